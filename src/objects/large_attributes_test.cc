#include "objects/large_attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "item/size.h"

namespace postino::objects {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> kept = {"PK", "SK", "ttl"};
const item::Key key{{"PK", "TICKET#1"}, {"SK", "METADATA"}};

item::Item item_with(std::initializer_list<std::pair<std::string, std::size_t>> sizes) {
  item::Item item = key;
  for (const auto& [name, size] : sizes) item.set(name, std::string(size, 'x'));
  return item;
}

std::vector<std::string> names_in(const item::Map& map) {
  std::vector<std::string> names;
  for (const item::Attribute& attribute : map) names.push_back(attribute.name);
  return names;
}

std::vector<std::string> moved_of(item::Item item) {
  const std::size_t size = item::size_of(item);
  const SplitItem split = split_item(std::move(item), {}, kept);
  EXPECT_EQ(item::size_of(split.rest) + item::size_of(split.moved), size);
  return names_in(split.moved);
}

TEST(SplitItemTest, ItemsUpToTheLimitStayWhole) {
  EXPECT_THAT(moved_of(item_with({{"a", 300'000}})), IsEmpty());
  item::Item item = item_with({{"a", 1}});
  item.set("a", std::string(350'001 - item::size_of(item), 'x'));
  EXPECT_EQ(item::size_of(item), 350'000U);
  EXPECT_THAT(moved_of(item), IsEmpty());
  item.set("b", "");
  EXPECT_THAT(moved_of(item), ElementsAre("a"));
}

TEST(SplitItemTest, LargeAttributesMoveAllOfThem) {
  EXPECT_THAT(moved_of(item_with({{"a", 200'000}, {"b", 60'000}, {"c", 100'000}, {"d", 40'000}})),
              ElementsAre("a", "b", "c"));
}

TEST(SplitItemTest, ThenTheNextLargestUntilItFits) {
  item::Item item = key;
  for (int i = 0; i < 10; ++i) item.set("a" + std::to_string(i), std::string(38'000 + i, 'x'));
  EXPECT_THAT(moved_of(item), ElementsAre("a9"));
  item::Item small = key;
  for (int i = 0; i < 1'000; ++i) small.set("a" + std::to_string(i), std::string(500, 'x'));
  EXPECT_THAT(moved_of(small), IsEmpty()) << "nothing here is worth it: the store refuses it";
}

TEST(SplitItemTest, KeysAndTimeToLiveStay) {
  item::Item item = item_with({{"a", 10}});
  item.set("ttl", std::string(400'000, '1'));
  EXPECT_THAT(moved_of(item), IsEmpty());
}

TEST(LargeObjectTest, HasTheKeyAndComesBack) {
  const item::Map moved{{"text", "äöü\n"}, {"map", item::Map{{"n", 1}, {"b", item::Binary{std::string("\0\xFF", 2)}}}}};
  const std::string bytes = write_large_object(key, moved);
  EXPECT_EQ(bytes, R"({"PK":{"S":"TICKET#1"},"SK":{"S":"METADATA"},"map":{"M":{"b":{"B":"AP8="},"n":{"N":"1"}}},)"
                   R"("text":{"S":"äöü\n"}})");
  const auto read = read_large_object(bytes, key);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, moved);
  const auto others = read_large_object(bytes, item::Key{{"PK", "TICKET#2"}, {"SK", "METADATA"}});
  ASSERT_FALSE(others);
  EXPECT_THAT(others.error().message, HasSubstr("another item"));
  for (const std::string& damaged :
       {std::string(""), bytes.substr(0, bytes.size() - 1), std::string("[]"), std::string("null")})
    EXPECT_FALSE(read_large_object(damaged, key)) << damaged;
}

TEST(SeedObjectTest, PlainJsonAndDynamoDbsAreRead) {
  const auto plain = read_seed_object(
      R"({"log": "text", "data": {"n": 1.50, "big": 12345678901234567890, "list": [true, null, {"a": "b"}]}})");
  ASSERT_TRUE(plain);
  EXPECT_EQ(*plain, (item::Map{{"log", "text"},
                               {"data", item::Map{{"n", item::Number::parse("1.5").value()},
                                                  {"big", item::Number::parse("12345678901234567890").value()},
                                                  {"list", item::List{true, item::Null{}, item::Map{{"a", "b"}}}}}}}));
  const auto typed = read_seed_object(R"({"log": {"S": "text"}, "n": {"N": "1"}})");
  ASSERT_TRUE(typed);
  EXPECT_EQ(*typed, (item::Map{{"log", "text"}, {"n", 1}}));
  for (const char* damaged : {"", "[1]", "text", R"({"a": )", R"({"a": 1e999})"})
    EXPECT_FALSE(read_seed_object(damaged)) << damaged;
  std::string deep = R"({"a":)" + std::string(60, '[') + std::string(60, ']') + "}";
  EXPECT_FALSE(read_seed_object(deep));
}

TEST(SeedObjectTest, IsNamedAsTheSeedDoes) {
  const KeyedTable table{"t", {{"PK", item::Type::string}, {"SK", item::Type::string}}};
  EXPECT_EQ(seed_object_name(table, key), "large-items/TICKET#1/METADATA.json");
  EXPECT_EQ(seed_object_name({"t", {{"PK", item::Type::string}}}, key), "");
}

}  // namespace
}  // namespace postino::objects
