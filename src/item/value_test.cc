#include "item/value.h"

#include <gmock/gmock.h>

namespace postino::item {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names(const Map& map) {
  std::vector<std::string> result;
  for (const auto& [name, value] : map) result.push_back(name);
  return result;
}

TEST(Set, KeepsMembersSortedAndUnique) {
  const StringSet set({"b", "a", "b", "", "\xFF"});
  EXPECT_THAT(set.members(), ElementsAre("", "a", "b", "\xFF"));
  const NumberSet numbers({Number(10), Number(9), Number::parse("9.0").value()});
  EXPECT_THAT(numbers.members(), ElementsAre(Number(9), Number(10)));
}

TEST(Set, InsertsAndErases) {
  BinarySet set;
  EXPECT_TRUE(set.insert(Binary{"b"}));
  EXPECT_TRUE(set.insert(Binary{"a"}));
  EXPECT_FALSE(set.insert(Binary{"b"}));
  EXPECT_THAT(set.members(), ElementsAre(Binary{"a"}, Binary{"b"}));
  EXPECT_TRUE(set.contains(Binary{"a"}));
  EXPECT_FALSE(set.contains(Binary{"ab"}));
  EXPECT_TRUE(set.erase(Binary{"a"}));
  EXPECT_FALSE(set.erase(Binary{"a"}));
  EXPECT_EQ(set.size(), 1U);
}

TEST(Map, SortsByName) {
  const Map map{{"b", 1}, {"", 2}, {"a", 3}, {"\xC3\xA4", 4}, {"aa", 5}};
  EXPECT_THAT(names(map), ElementsAre("", "a", "aa", "b", "\xC3\xA4"));
}

TEST(Map, KeepsTheLastOfEqualNames) {
  const Map map(std::vector<Attribute>{{"b", 1}, {"a", 2}, {"b", 3}, {"a", 4}, {"a", 5}, {"c", 6}});
  EXPECT_EQ(map, (Map{{"a", 5}, {"b", 3}, {"c", 6}}));
  std::vector<Attribute> many;
  for (int i = 0; i < 100; ++i) many.push_back({i % 2 == 0 ? "b" : "a", i});
  EXPECT_EQ(Map(many), (Map{{"a", 99}, {"b", 98}}));
  // Sorted, but not unique.
  EXPECT_EQ(Map(std::vector<Attribute>{{"a", 1}, {"a", 2}}), (Map{{"a", 2}}));
}

TEST(Map, TakesSortedAttributesOnlyIfTheyAre) {
  EXPECT_EQ(Map::from_sorted({{"", 0}, {"a", 1}, {"ab", 2}, {"\xFF", 3}}),
            (Map{{"", 0}, {"a", 1}, {"ab", 2}, {"\xFF", 3}}));
  EXPECT_EQ(Map::from_sorted({}), Map());
  EXPECT_EQ(Map::from_sorted({{"a", 1}, {"a", 2}}), std::nullopt);
  EXPECT_EQ(Map::from_sorted({{"b", 1}, {"a", 2}}), std::nullopt);
  EXPECT_EQ(Map::from_sorted({{"ab", 1}, {"a", 2}}), std::nullopt);
  EXPECT_EQ(Map::from_sorted({{"\xFF", 1}, {"a", 2}}), std::nullopt);
}

TEST(Map, FindsWhatIsThereAndNothingElse) {
  Map map{{"a", 1}, {"c", 3}, {"e", 5}};
  for (const auto* name : {"a", "c", "e"}) EXPECT_TRUE(map.contains(name)) << name;
  for (const auto* name : {"", "b", "d", "f", "aa", "A"}) EXPECT_EQ(map.find(name), nullptr) << name;
  *map.find("c") = "text";
  EXPECT_EQ(map, (Map{{"a", 1}, {"c", "text"}, {"e", 5}}));
  EXPECT_EQ(Map().find(""), nullptr);
}

TEST(Map, SetsAppendsAndErases) {
  Map map;
  map.set("b", 1);
  map.set("a", 2);
  map.set("b", 3);
  map.append("c", 4) = 5;
  EXPECT_EQ(map, (Map{{"a", 2}, {"b", 3}, {"c", 5}}));
  EXPECT_TRUE(map.erase("b"));
  EXPECT_FALSE(map.erase("b"));
  EXPECT_THAT(names(map), ElementsAre("a", "c"));
}

TEST(MapDeathTest, RefusesToAppendOutOfOrder) {
  Map map{{"b", 1}};
  EXPECT_DEATH(map.append("a", 2), "");
  EXPECT_DEATH(map.append("b", 2), "");
}

TEST(AttributeValue, KnowsItsType) {
  const std::pair<AttributeValue, std::string_view> values[] = {
      {"text", "S"},          {1, "N"},
      {Binary{"x"}, "B"},     {true, "BOOL"},
      {Null{}, "NULL"},       {StringSet({"a"}), "SS"},
      {NumberSet({1}), "NS"}, {BinarySet({Binary{"a"}}), "BS"},
      {List{1}, "L"},         {Map{{"a", 1}}, "M"},
  };
  for (const auto& [value, name] : values) EXPECT_EQ(type_name(value.type()), name);
  EXPECT_EQ(AttributeValue().type(), Type::null);
}

TEST(AttributeValue, IsEqualByTypeAndContent) {
  EXPECT_EQ(AttributeValue(Number::parse("1.0").value()), AttributeValue(1));
  EXPECT_EQ(AttributeValue(StringSet({"a", "b"})), AttributeValue(StringSet({"b", "a"})));
  EXPECT_NE(AttributeValue("1"), AttributeValue(1));
  EXPECT_NE(AttributeValue("a"), AttributeValue(Binary{"a"}));
  EXPECT_NE(AttributeValue(StringSet({"a"})), AttributeValue(BinarySet({Binary{"a"}})));
  EXPECT_NE(AttributeValue(List{1, 2}), AttributeValue(List{2, 1}));
  const auto nested = [](int leaf) { return AttributeValue(Map{{"l", List{Map{{"x", leaf}}}}}); };
  EXPECT_EQ(nested(1), nested(1));
  EXPECT_NE(nested(1), nested(2));
  EXPECT_NE(AttributeValue(Map{{"a", 1}}), AttributeValue(Map{{"b", 1}}));
  EXPECT_NE(AttributeValue(Map{{"a", 1}}), AttributeValue(Map{{"a", 1}, {"b", 1}}));
}

}  // namespace
}  // namespace postino::item
