#include "json/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace postino::json {
namespace {

using testing::ElementsAre;

TEST(JsonDocument, SaysWhyATextIsNone) {
  const auto fault = [](std::string_view text) {
    FieldErrors errors;
    Document document;
    EXPECT_FALSE(document.parse(text, errors)) << text;
    return errors.list().front().rule;
  };
  EXPECT_EQ(fault(""), "must be JSON, and is empty");
  EXPECT_EQ(fault("   "), "must be JSON, and is empty");
  EXPECT_EQ(fault("{"), "must be JSON; it ends too early, in line 1, column 2");
  EXPECT_EQ(fault("{} {}"), "must be JSON; the error is in line 1, column 4");
  EXPECT_EQ(fault("{\"a\":1,\n}"), "must be JSON; the error is in line 2, column 1");
  EXPECT_EQ(fault("\"\\ud800\""), "must be JSON");
  for (const char* const number : {"1e400", "-1e400", "18446744073709551616", "99999999999999999999999"})
    EXPECT_EQ(fault(number), "must not have integers of more than 64 bits, or numbers beyond 1.8e308");
  EXPECT_EQ(fault("01"), "must be JSON; the error is in line 1, column 2");
  EXPECT_EQ(fault("{\"a\":\"\xFF\"}"), "must be valid UTF-8");
  EXPECT_EQ(fault(std::string(65, '[') + std::string(65, ']')), "must not be nested deeper than 64");
  EXPECT_EQ(fault(std::string(100'000, '[') + std::string(100'000, ']')), "must not be nested deeper than 64");
}

TEST(JsonDocument, MayBeNestedUpToTheLimit) {
  FieldErrors errors;
  Document document;
  EXPECT_TRUE(document.parse(std::string(64, '[') + std::string(64, ']'), errors)) << errors.list().front().rule;
}

TEST(JsonDocument, MayBeParsedAgainAndMoved) {
  FieldErrors errors;
  Document first;
  ASSERT_TRUE(first.parse("[1]", errors));
  ASSERT_TRUE(first.parse(R"({"a":"text"})", errors));
  const Document second = std::move(first);
  EXPECT_EQ(second.root().member("a")->text(), "text");
}

class JsonElement : public testing::Test {
 protected:
  Element parse(std::string_view text) {
    FieldErrors errors;
    EXPECT_TRUE(document_.parse(text, errors)) << text;
    return document_.root();
  }

 private:
  Document document_;
};

TEST_F(JsonElement, HasAType) {
  using enum Element::Type;
  std::vector<Element::Type> types;
  for (const Element each : parse(R"([null, true, -1, 18446744073709551615, 1.0, "s", [], {}])").elements())
    types.push_back(each.type());
  EXPECT_THAT(types, ElementsAre(null, boolean, integer, unsigned_integer, number, string, array, object));
}

TEST_F(JsonElement, IsReadAsWhatItIsAndNothingElse) {
  EXPECT_EQ(parse("\"a\\n\"").text(), "a\n");
  EXPECT_EQ(parse("true").boolean(), true);
  EXPECT_EQ(parse("-5").integer(), -5);
  EXPECT_EQ(parse("5").unsigned_integer(), 5U);
  EXPECT_EQ(parse("18446744073709551615").unsigned_integer(), 18'446'744'073'709'551'615U);
  EXPECT_EQ(parse("1.5").number(), 1.5);
  EXPECT_EQ(parse("5").number(), 5.0);
  EXPECT_EQ(parse("5").text(), std::nullopt);
  EXPECT_EQ(parse("\"true\"").boolean(), std::nullopt);
  EXPECT_EQ(parse("1.0").integer(), std::nullopt);
  EXPECT_EQ(parse("18446744073709551615").integer(), std::nullopt);
  EXPECT_EQ(parse("-5").unsigned_integer(), std::nullopt);
  EXPECT_EQ(parse("\"5\"").number(), std::nullopt);
}

TEST_F(JsonElement, ElementsAndMembersComeInTheOrderOfTheText) {
  std::vector<std::int64_t> numbers;
  for (const Element each : parse("[3, 1, 2]").elements()) numbers.push_back(*each.integer());
  EXPECT_THAT(numbers, ElementsAre(3, 1, 2));
  std::vector<std::string> members;
  const Members all = parse(R"({"b": [1, 2], "a": {"x": 1}, "b": null})").members();
  for (const auto& [name, value] : all) members.push_back(std::string(name) + "=" + value.compact());
  EXPECT_THAT(members, ElementsAre("b=[1,2]", "a={\"x\":1}", "b=null"));
  EXPECT_EQ(all.size(), 3U);
}

TEST_F(JsonElement, OfAnotherTypeHasNoElementsAndNoMembers) {
  for (const char* const text : {"1", "\"[]\"", "null"}) {
    EXPECT_TRUE(parse(text).elements().empty()) << text;
    EXPECT_TRUE(parse(text).members().empty()) << text;
    EXPECT_EQ(parse(text).elements().begin(), parse(text).elements().end()) << text;
    EXPECT_FALSE(parse(text).member("a")) << text;
  }
  EXPECT_TRUE(parse("{\"a\":1}").elements().empty());
  EXPECT_TRUE(parse("[1]").members().empty());
}

TEST_F(JsonElement, MemberIsTheFirstOfItsName) {
  const Element object = parse(R"({"a": 1, "a": 2, "n": null})");
  EXPECT_EQ(object.member("a")->integer(), 1);
  EXPECT_TRUE(object.member("n")->is_null());
  EXPECT_FALSE(object.member("A"));
}

TEST(CountValues, CountsWhatIsOutsideOfStrings) {
  EXPECT_EQ(count_values("1"), 1U);
  EXPECT_EQ(count_values("[1,2,3]"), 4U);
  EXPECT_EQ(count_values(R"({"a":"[1,2,3]{","b":[1]})"), 4U);
  EXPECT_EQ(count_values(R"(["\\",1,"\\",2,",\\\",,,",3])"), 7U) << "an escaped quote does not end a string";
  EXPECT_EQ(count_values(R"(["\)"), 2U);
  EXPECT_EQ(count_values(R"(["never ends, never)"), 2U);
  EXPECT_EQ(count_values(""), 1U);
  EXPECT_FALSE(has_too_many_values(std::string(most_values - 1, ',')));
  EXPECT_TRUE(has_too_many_values(std::string(most_values + 1, ',')));
  EXPECT_FALSE(has_too_many_values('"' + std::string(most_values + 1, ',') + '"'));
}

}  // namespace
}  // namespace postino::json
