#include "json/fault.h"

#include <gtest/gtest.h>

#include "json/document.h"

namespace postino::json {
namespace {

std::string place_of(std::string_view text) {
  const auto fault = find_fault(text);
  if (!fault) return "none";
  return std::to_string(fault->line) + ":" + std::to_string(fault->column) + (fault->at_end ? " end" : "");
}

TEST(JsonFault, IsTheFirstPlaceThatCannotBeJson) {
  EXPECT_EQ(place_of(R"({"a":1,})"), "1:8");
  EXPECT_EQ(place_of(R"({a:1})"), "1:2");
  EXPECT_EQ(place_of("{\n  \"a\": 1\n  \"b\": 2\n}"), "3:3");
  EXPECT_EQ(place_of("[1, 2,, 3]"), "1:7");
  EXPECT_EQ(place_of("{} {}"), "1:4");
  EXPECT_EQ(place_of("[tru, 1]"), "1:5");
  EXPECT_EQ(place_of("[01]"), "1:3");
  EXPECT_EQ(place_of("[1.e5]"), "1:4");
  EXPECT_EQ(place_of("\"line\nbreak\""), "1:6");
  EXPECT_EQ(place_of(R"(["\x"])"), "1:4");
  EXPECT_EQ(place_of(R"(["\u00g0"])"), "1:7");
}

TEST(JsonFault, ColumnsAreCharacters) { EXPECT_EQ(place_of("[\"\u00e4\u20ac\" x]"), "1:7"); }

TEST(JsonFault, TellsATextThatEndsTooEarly) {
  EXPECT_EQ(place_of(""), "1:1 end");
  EXPECT_EQ(place_of("{"), "1:2 end");
  EXPECT_EQ(place_of("[1,\n"), "2:1 end");
  EXPECT_EQ(place_of("\"abc"), "1:5 end");
}

TEST(JsonFault, IsNoneInWhatTheParserTakes) {
  for (const std::string_view text : {"0", "-0.5e+10", "true", "false", "null", "[]", "{}",
                                      R"({"a":[1,{"b":"\u00e4\n"}],"c":null})", " [ 1 , 2 ] ", "1E5", R"("\\")"}) {
    Document document;
    FieldErrors errors;
    EXPECT_TRUE(document.parse(text, errors)) << text;
    EXPECT_EQ(place_of(text), "none") << text;
  }
}

TEST(JsonFault, IsNoneForWhatIsOnlyTooDeep) {
  EXPECT_EQ(place_of(std::string(65, '[') + std::string(65, ']')), "none");
  EXPECT_EQ(place_of(std::string(1'000'000, '[')), "none");
}

}  // namespace
}  // namespace postino::json
