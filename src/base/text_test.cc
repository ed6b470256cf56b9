#include "base/text.h"

#include <gtest/gtest.h>

namespace postino::base {
namespace {

TEST(Text, CaseIsAMatterOfAsciiLetters) {
  EXPECT_EQ(lower_case("AZaz09-[`{@Ä"), "azaz09-[`{@Ä");
  EXPECT_EQ(upper_case("AZaz09-[`{@ä"), "AZAZ09-[`{@ä");
}

TEST(Text, EqualIgnoringCaseComparesWholeTexts) {
  EXPECT_TRUE(equal_ignoring_case("Content-Type", "content-TYPE"));
  EXPECT_TRUE(equal_ignoring_case("", ""));
  EXPECT_FALSE(equal_ignoring_case("content", "content-type"));
  EXPECT_FALSE(equal_ignoring_case("content-type", "content"));
  EXPECT_FALSE(equal_ignoring_case("[", "{"));  // as far apart as letters of different case
  EXPECT_FALSE(equal_ignoring_case("Ä", "ä"));
}

TEST(Text, CharactersAreCountedWhateverTheirLength) {
  EXPECT_EQ(character_count(""), 0U);
  EXPECT_EQ(character_count("abc"), 3U);
  EXPECT_EQ(character_count("aé€😀"), 4U);
}

TEST(Text, WhatHasAMeaningInAUrlIsPercentEncoded) {
  EXPECT_EQ(encode_percent("a-Z_0.~"), "a-Z_0.~");
  EXPECT_EQ(encode_percent("a/b?c d+é"), "a%2Fb%3Fc%20d%2B%C3%A9");
}

TEST(Text, PercentEncodingIsDecodedWhereItIsWhole) {
  EXPECT_EQ(decode_percent("a%20b%2Fc%c3%A9"), "a b/cé");
  for (const char* as_it_is : {"", "%", "%2", "100%", "%zz", "%2g"}) EXPECT_EQ(decode_percent(as_it_is), as_it_is);
}

}  // namespace
}  // namespace postino::base
