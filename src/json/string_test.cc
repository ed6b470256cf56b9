#include "json/string.h"

#include <gtest/gtest.h>

namespace postino::json {
namespace {

std::string literal(std::string_view text) {
  std::string out;
  append_string(out, text);
  return out;
}

TEST(JsonString, EscapesWhatJsonForbids) {
  EXPECT_EQ(literal(""), R"("")");
  EXPECT_EQ(literal("\"\\/\b\f\n\r\t"), R"("\"\\/\b\f\n\r\t")");
  EXPECT_EQ(literal(std::string("\0\x1F\x7F", 3)), "\"\\u0000\\u001f\x7F\"");
  EXPECT_EQ(literal("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"), "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\"");
}

TEST(JsonString, EscapesAtEveryPlaceOfALongText) {
  for (std::size_t place = 0; place < 24; ++place) {
    for (const char special : {'"', '\\', '\n', '\x1F', '\xFF', ' ', '!', '#', '[', ']', '\x7F'}) {
      std::string text(24, 'x');
      text[place] = special;
      std::string expected(1, special);
      if (special == '"' || special == '\\') expected.insert(0, "\\");
      if (special == '\n') expected = "\\n";
      if (special == '\x1F') expected = "\\u001f";
      if (special == '\xFF') expected = "\xEF\xBF\xBD";
      EXPECT_EQ(literal(text), "\"" + std::string(place, 'x') + expected + std::string(23 - place, 'x') + "\"");
    }
  }
}

TEST(JsonString, ReplacesInvalidUtf8) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(literal("a\x80z"), "\"a" + bad + "z\"");
  EXPECT_EQ(literal("\xC3"), "\"" + bad + "\"");                                // cut off
  EXPECT_EQ(literal("\xC0\xAF"), "\"" + bad + bad + "\"");                      // longer than needed
  EXPECT_EQ(literal("\xE0\x80\xAF"), "\"" + bad + bad + bad + "\"");            // longer than needed
  EXPECT_EQ(literal("\xED\xA0\x80"), "\"" + bad + bad + bad + "\"");            // surrogate
  EXPECT_EQ(literal("\xF4\x90\x80\x80"), "\"" + bad + bad + bad + bad + "\"");  // beyond U+10FFFF
  EXPECT_EQ(literal("\xE2\x82z"), "\"" + bad + bad + "z\"");
  EXPECT_EQ(literal("\xF5\x80\x80\x80"), "\"" + bad + bad + bad + bad + "\"");
}

TEST(JsonString, TellsWhatIsUtf8) {
  for (const char* good :
       {"", "plain ASCII of some length\n\x7F", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", "\xEF\xBF\xBD"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const char* bad : {"a\x80z", "\xC3", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82z",
                          "eight or more \xFF"})
    EXPECT_FALSE(is_utf8(bad)) << bad;
}

}  // namespace
}  // namespace postino::json
