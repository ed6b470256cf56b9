#include "base/text.h"

#include <gtest/gtest.h>

#include "base/metrics_text.h"

namespace postino::base {
namespace {

TEST(Text, CaseIsAMatterOfAsciiLetters) {
  EXPECT_EQ(lower_case("AZaz09-[`{@Ä"), "azaz09-[`{@Ä");
  EXPECT_EQ(upper_case("AZaz09-[`{@ä"), "AZAZ09-[`{@ä");
}

TEST(Text, ControlCharactersEndLinesOrControlTerminals) {
  EXPECT_FALSE(has_control_character(""));
  for (const char* const text : {" ~é", "\u00A0\u2027\u202F", "\U0001F600", "\xC2", "\xE2\x80", "\xFF\x85"})
    EXPECT_FALSE(has_control_character(text)) << text;
  for (const char* const text : {"a\n", "\x01", "\x1F",
                                 "a\x7F"
                                 "b",
                                 "\u0080", "a\u0085b", "\u009F", "é\u2028", "\u2029"})
    EXPECT_TRUE(has_control_character(text)) << text;
  EXPECT_FALSE(has_control_character("two\r\nlines\u2028and\u2029a\ttab", line_controls));
  for (const char* const text : {"a\x1B[1m", "\u0085", "\u009B", "\x7F"})
    EXPECT_TRUE(has_control_character(text, line_controls)) << text;
  EXPECT_FALSE(has_control_character("a\tb", "\t"));
  EXPECT_TRUE(has_control_character("a\u2028b", "\t"));
  EXPECT_TRUE(has_control_character(std::string_view("a\0b", 3)));
  EXPECT_TRUE(is_printable_ascii(' ') && is_printable_ascii('~'));
  EXPECT_FALSE(is_printable_ascii('\x1F') || is_printable_ascii('\x7F') || is_printable_ascii('\xC3'));
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

TEST(Text, BlanksAroundATextAreTrimmed) {
  EXPECT_EQ(trim(" \t\r\n\fa b "), "a b");
  EXPECT_EQ(trim("--a-b-", "-"), "a-b");
  EXPECT_EQ(trim("a"), "a");
  EXPECT_EQ(trim(" \n "), "");
  EXPECT_EQ(trim(""), "");
}

std::string printable(std::string_view text, std::size_t limit = 512) {
  std::string out;
  append_printable(out, text, limit);
  return out;
}

TEST(PrintableText, KeepsText) {
  EXPECT_EQ(printable("no such user"), "no such user");
  EXPECT_EQ(printable("sch\u00f6n \u20ac \U0001F600"), "sch\u00f6n \u20ac \U0001F600");
}

TEST(PrintableText, ReplacesWhatCouldDoHarm) {
  using namespace std::string_view_literals;
  EXPECT_EQ(printable("a\r\nb\tc\0d\x7F\x1B[1m"sv), "a  b c d  [1m");
  EXPECT_EQ(printable("a\u0085b\u2028c\u2029d"), "a b c d");
}

TEST(PrintableText, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(printable("a\xFF\xFE"
                      "b"),
            "a??b");
  EXPECT_EQ(printable("\xC3"), "?") << "cut off";
  EXPECT_EQ(printable("\xE2\x82 x"), "?? x") << "cut off";
  EXPECT_EQ(printable("\xC0\xAF"), "??") << "overlong";
  EXPECT_EQ(printable("\xE0\x80\xAF"), "???") << "overlong";
  EXPECT_EQ(printable("\xF0\x80\x80\xAF"), "????") << "overlong";
  EXPECT_EQ(printable("\xED\xA0\x80"), "???") << "half of a pair";
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "????") << "beyond the last character";
}

TEST(PrintableText, StopsAtTheLimitBetweenCharacters) {
  EXPECT_EQ(printable("abcdef", 4), "abcd");
  EXPECT_EQ(printable("abc\u00f6", 4), "abc");
  EXPECT_EQ(printable("ab\u00f6x", 4), "ab\u00f6");
}

TEST(Character, IsReferredToByItsNumber) {
  const auto text_of = [](std::string_view reference) {
    std::string text;
    if (const auto code = referred_character(reference)) append_character(text, *code);
    return text;
  };
  EXPECT_EQ(text_of("#65"), "A");
  EXPECT_EQ(text_of("#xE9") + text_of("#Xe9"), "\u00e9\u00e9");
  EXPECT_EQ(text_of("#x20AC") + text_of("#x10FFFF"), "\u20ac\U0010ffff");
  for (const char* none : {"#0", "#xD800", "#x110000", "#99999999999999999999"})
    EXPECT_EQ(text_of(none), "\ufffd") << none;
  for (const char* other : {"", "#", "#x", "amp", "#1a", "#xg", "# 1", "#-1"}) EXPECT_EQ(text_of(other), "") << other;
}

TEST(MetricsText, AMetricHasItsHelpItsTypeAndItsValue) {
  std::string text = "before\n";
  append_metric(text, "postino_things", "gauge", "Things there are.", "3");
  EXPECT_EQ(text, "before\n# HELP postino_things Things there are.\n# TYPE postino_things gauge\npostino_things 3\n");
}

}  // namespace
}  // namespace postino::base
