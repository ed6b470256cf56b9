#include "item/plain_json.h"

#include <gtest/gtest.h>

#include "item/fields.h"

namespace postino::item {
namespace {

TEST(PlainJson, IsReadAsItWasWritten) {
  const Map map = {{"text", "a\"b\n"},
                   {"number", Number::parse("1.50").value()},
                   {"large", Number::parse("12345678901234567890123").value()},
                   {"flag", true},
                   {"nothing", Null()},
                   {"list", List{1, "two", List{}}},
                   {"map", Map{{"ü", Map()}}}};
  const std::string text = to_plain_json(map);
  EXPECT_EQ(text, R"({"flag":true,"large":12345678901234567890123,"list":[1,"two",[]],"map":{"ü":{}},"nothing":null,)"
                  R"("number":1.5,"text":"a\"b\n"})");
  const Map without_large = {{"list", List{1, -2, "two"}}, {"number", Number::parse("1.5").value()}};
  EXPECT_EQ(parse_plain_json(to_plain_json(without_large)).value(), AttributeValue(without_large));
}

TEST(PlainJson, HasSetsAsArraysAndBytesInBase64) {
  EXPECT_EQ(to_plain_json(Map{{"b", Binary{"abc"}}, {"s", StringSet({"x", "y"})}}), R"({"b":"YWJj","s":["x","y"]})");
}

TEST(PlainJson, ThatIsNoneIsMalformed) {
  for (const std::string text : {"", "{", "{\"a\":}", "nope", "[1e400]"})
    EXPECT_EQ(parse_plain_json(text).error().code, base::ErrorCode::malformed) << text;
  EXPECT_EQ(parse_plain_json(std::string(40, '[') + std::string(40, ']')).error().code, base::ErrorCode::malformed);
  EXPECT_EQ(parse_plain_json("[1e200]").value().as<List>().front().type(), Type::string)
      << "no number that an item could hold";
}

TEST(PlainJson, StandsForAMap) {
  const Map map = {{"a", 1}};
  EXPECT_EQ(map_or_json(map), map);
  EXPECT_EQ(map_or_json(to_plain_json(map)), map);
  EXPECT_EQ(map_or_json("[1]"), std::nullopt);
  EXPECT_EQ(map_or_json("text"), std::nullopt);
  EXPECT_EQ(map_or_json(7), std::nullopt);
}

TEST(ItemFields, RememberTheFirstAttributeOfAnotherType) {
  const Map item = {{"text", "a"}, {"number", 3}, {"half", Number::parse("0.5").value()}, {"none", Null()}};
  Fields fields(item);
  EXPECT_EQ(fields.text("text"), "a");
  EXPECT_EQ(fields.text("absent"), "");
  EXPECT_EQ(fields.text("none"), "");
  EXPECT_EQ(fields.count("number"), 3);
  EXPECT_TRUE(fields.check("R"));
  EXPECT_EQ(fields.whole("half"), 0);
  EXPECT_EQ(fields.text("number"), "");
  EXPECT_EQ(fields.check("R").error().message, "the record R cannot be read: half must be a whole number");
}

}  // namespace
}  // namespace postino::item
