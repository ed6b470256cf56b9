#include "expr/expression_testing.h"
#include "expr/placeholder_keys.h"

namespace postino::expr {
namespace {

std::string maps_error(Placeholders placeholders, bool any_expression = true,
                       std::string_view absent = "ConditionExpression is null") {
  return message_of(Binder(placeholders).check_maps(any_expression, absent));
}

TEST(PlaceholderMaps, MayBeAbsent) {
  EXPECT_EQ(maps_error({}), "");
  EXPECT_EQ(maps_error({}, false), "");
  EXPECT_EQ(maps_error(samples()), "");
}

TEST(PlaceholderMaps, NeedAnExpression) {
  EXPECT_EQ(maps_error({Names{}, Values{}}, false),
            "ExpressionAttributeNames can only be specified when using expressions");
  EXPECT_EQ(maps_error({std::nullopt, Values{}}, false),
            "ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null");
  EXPECT_EQ(maps_error({std::nullopt, Values{{":a", 1}}}, false, "UpdateExpression and ConditionExpression are null"),
            "ExpressionAttributeValues can only be specified when using expressions: "
            "UpdateExpression and ConditionExpression are null");
  EXPECT_EQ(maps_error({std::nullopt, Values{}}, false, ""),
            "ExpressionAttributeValues can only be specified when using expressions");
}

TEST(PlaceholderMaps, MustNotBeEmpty) {
  EXPECT_EQ(maps_error({Names{}, Values{}}), "ExpressionAttributeNames must not be empty");
  EXPECT_EQ(maps_error({std::nullopt, Values{}}), "ExpressionAttributeValues must not be empty");
}

TEST(PlaceholderMaps, HaveWellFormedKeys) {
  for (const char* key : {"a", "", "#", "# a", "#a ", " #a", ":a", "#a-b", "##", "#ü"})
    EXPECT_EQ(maps_error({Names{{key, "a"}}, Values{}}),
              "ExpressionAttributeNames contains invalid key: Syntax error; key: \"" + std::string(key) + "\"");
  EXPECT_EQ(maps_error({std::nullopt, Values{{"#a", 1}}}),
            "ExpressionAttributeValues contains invalid key: Syntax error; key: \"#a\"");
  EXPECT_EQ(maps_error({Names{{"#_", "a"}, {"#0", "a"}, {"#aZ_9", "b"}}, {}}), "");
}

TEST(PlaceholderMaps, LimitTheLengthOfKeys) {
  EXPECT_EQ(maps_error({Names{{"#" + std::string(254, 'a'), "a"}}, {}}), "");
  EXPECT_THAT(
      maps_error({Names{{"#" + std::string(255, 'a'), "a"}}, {}}),
      testing::StartsWith("ExpressionAttributeNames contains invalid key: The expression attribute map contains "
                          "a key that is too long;"));
}

class Unused : public testing::Test {
 protected:
  std::string check(const Placeholders& placeholders) {
    Binder binder(placeholders);
    EXPECT_TRUE(binder.bind(*parse_update("SET #u = :u")));
    EXPECT_TRUE(binder.bind(*parse_condition("#c = :c", Kind::condition)));
    EXPECT_TRUE(binder.bind(*parse_projection("#u")));
    return message_of(binder.check_all_used());
  }
  Placeholders used_ = {Names{{"#u", "u"}, {"#c", "c"}}, Values{{":u", 1}, {":c", 2}}};
};

TEST_F(Unused, NothingIsLeft) { EXPECT_EQ(check(used_), ""); }

TEST_F(Unused, NamesComeFirst) {
  used_.names->emplace("#x", "x");
  used_.values->set(":x", 1);
  EXPECT_EQ(check(used_), "Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}");
}

TEST_F(Unused, Values) {
  used_.values->set(":x", 1);
  EXPECT_EQ(check(used_), "Value provided in ExpressionAttributeValues unused in expressions: keys: {:x}");
}

TEST_F(Unused, ListsKeysInHashOrder) {
  // "#a" hashes to 35 * 31 + 97 = 1182, bucket 14 of 16; "#b" to 15; "#d" to 1185, bucket 1.
  for (const char* key : {"#a", "#b", "#d"}) used_.names->emplace(key, "x");
  EXPECT_EQ(check(used_), "Value provided in ExpressionAttributeNames unused in expressions: keys: {#d, #a, #b}");
}

TEST(HashOrder, HashesLikeJava) {
  EXPECT_EQ(java_hash(""), 0U);
  EXPECT_EQ(java_hash("Aa"), 2112U);
  EXPECT_EQ(java_hash("BB"), 2112U);
  EXPECT_EQ(java_hash("hello"), 99162322U);
  EXPECT_EQ(java_hash("é"), 233U);
  EXPECT_EQ(java_hash("€"), 0x20ACU);
  EXPECT_EQ(java_hash("😀"), 0xD83DU * 31 + 0xDE00U);
}

TEST(HashOrder, HasMoreBucketsForMoreKeys) {
  // ":a" is 1895: bucket 7 of 16 and 7 of 32. ":j" is 1904: bucket 0 of 16, but 16 of 32.
  EXPECT_THAT(in_hash_order({":a", ":j"}), testing::ElementsAre(":j", ":a"));
  std::vector<std::string_view> keys = {":a", ":b", ":c", ":d", ":e", ":f", ":g", ":h", ":i", ":j", ":k", ":l"};
  EXPECT_EQ(in_hash_order(keys).front(), ":j");
  keys.push_back(":m");
  EXPECT_EQ(in_hash_order(keys), keys);
}

TEST(Binder, TheUsedKeysOutliveTheExpression) {
  const Placeholders placeholders{Names{{"#a", "a"}}, Values{{":a", 1}}};
  Binder binder(placeholders);
  { EXPECT_TRUE(binder.bind(*parse_condition("#a = :a", Kind::condition))); }
  EXPECT_TRUE(binder.check_all_used());
}

TEST(Binder, WithoutMapsEverythingIsUndefined) {
  EXPECT_EQ(condition_error("#a = :a", {}),
            "Invalid ConditionExpression: An expression attribute name used in the document path is not defined; "
            "attribute name: #a");
  EXPECT_EQ(update_error("SET a = :a", {}),
            "Invalid UpdateExpression: An expression attribute value used in expression is not defined; attribute "
            "value: :a");
}

}  // namespace
}  // namespace postino::expr
