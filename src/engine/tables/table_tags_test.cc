#include "engine/catalog/core_testing.h"
#include "engine/tables/table_operations.h"

namespace postino::engine {
namespace {

using store::Tag;

const std::string tagged_arn = "arn:aws:dynamodb:us-east-1:000000000000:table/abc";

class TableTagsTest : public CoreTest {
 protected:
  TableTagsTest() { EXPECT_TRUE(tables().create(simple_table("abc"))); }
  TableOperations tables() { return TableOperations(core()); }
  std::vector<Tag> list() { return tables().list_tags(tagged_arn)->tags; }
  std::string tag_refusal(const std::vector<Tag>& tags) { return tables().tag(tagged_arn, tags).error().message; }
};

TEST_F(TableTagsTest, KeepTheirOrderAndSurvive) {
  EXPECT_TRUE(list().empty());
  ASSERT_TRUE(tables().tag(tagged_arn, {{"b", "1"}, {"a", "2"}}));
  ASSERT_TRUE(tables().tag(tagged_arn, {{"c", ""}, {"b", "3"}}));
  EXPECT_EQ(list(), (std::vector<Tag>{{"b", "3"}, {"a", "2"}, {"c", ""}}));
  ASSERT_TRUE(tables().untag(tagged_arn, {"a", "unknown"}));
  reopen();
  EXPECT_EQ(list(), (std::vector<Tag>{{"b", "3"}, {"c", ""}}));
  EXPECT_FALSE(tables().list_tags(tagged_arn)->next_token);
}

TEST_F(TableTagsTest, SomethingMustBeGiven) {
  EXPECT_EQ(tag_refusal({}), "Atleast one Tag needs to be provided as Input.");
  EXPECT_EQ(tables().untag(tagged_arn, {}).error().message, "Atleast one Tag Key needs to be provided as Input.");
}

TEST_F(TableTagsTest, KeysAndValuesHaveRules) {
  EXPECT_TRUE(tables().tag(tagged_arn, {{std::string(128, 'k'), std::string(256, 'v')}}));
  EXPECT_TRUE(tables().tag(tagged_arn, {{"caf\xC3\xA9 +-=._:/@", "x"}}));
  const std::string long_key(129, 'k');
  EXPECT_EQ(tag_refusal({{"good", ""}, {long_key, ""}}), "The Tag Key provided is invalid, Key: " + long_key);
  EXPECT_EQ(tag_refusal({{"", ""}}), "The Tag Key provided is invalid, Key: ");
  EXPECT_EQ(tag_refusal({{"a#b", ""}}), "The Tag Key provided is invalid, Key: a#b");
  const std::string long_value(257, 'v');
  EXPECT_EQ(tag_refusal({{"key", long_value}}), "The Tag Value provided is invalid, Value: " + long_value);
  EXPECT_EQ(tag_refusal({{"good", ""}, {"aws:zzz", ""}}), "Tag Key cannot be prefixed with aws:, Key: aws:zzz");
  EXPECT_EQ(tag_refusal({{"dup", "1"}, {"dup", "2"}}),
            "Duplicate Tag Keys provided as input: Duplicate Tag Key found dup");
  EXPECT_EQ(tables().untag(tagged_arn, {long_key}).error().message,
            "The Tag Key provided is invalid, Key: " + long_key);
  EXPECT_EQ(list().size(), 2U);
}

TEST_F(TableTagsTest, LengthsAreInCharacters) {
  std::string key;
  for (int i = 0; i < 128; ++i) key += "\xC3\xA9";
  EXPECT_TRUE(tables().tag(tagged_arn, {{key, ""}}));
  EXPECT_FALSE(tables().tag(tagged_arn, {{key + "\xC3\xA9", ""}}));
}

TEST_F(TableTagsTest, FiftyPerTable) {
  const std::string limit = "Number of Tags exceed the current limit for the provided ResourceArn";
  std::vector<Tag> fifty;
  std::vector<std::string> keys;
  for (int i = 0; i < 50; ++i) fifty.push_back({"key" + std::to_string(i), "old"});
  for (int i = 0; i < 51; ++i) keys.push_back("key" + std::to_string(i));
  ASSERT_TRUE(tables().tag(tagged_arn, fifty));
  EXPECT_TRUE(tables().tag(tagged_arn, {{"key7", "new"}}));
  EXPECT_EQ(tag_refusal({{"one-more", ""}}), limit);
  EXPECT_EQ(tables().untag(tagged_arn, keys).error().message, limit);
  EXPECT_EQ(list().size(), 50U);
}

TEST_F(TableTagsTest, OnlyTablesOfOursHaveThem) {
  const auto refusal = [&](const std::string& resource) { return tables().list_tags(resource).error(); };
  EXPECT_EQ(refusal("abc").message, invalid_values + "ARNs must start with 'arn:': abc");
  EXPECT_EQ(refusal("arn:aws:s3:::bucket").message,
            invalid_values + "Provided Arn is not a DynamoDB resource arn: arn:aws:s3:::bucket");
  EXPECT_EQ(refusal(tagged_arn + "/index/by-a").message,
            invalid_values +
                "Invalid resource arn provided, only table or stream is accepted. Provided resource arn: " +
                tagged_arn + "/index/by-a");
  const std::string invalid = "Invalid TableArn: Invalid ResourceArn provided as input ";
  EXPECT_EQ(refusal(tagged_arn + "/stream/2026-01-02T03:04:05.678").message,
            invalid + tagged_arn + "/stream/2026-01-02T03:04:05.678");
  const std::string elsewhere = "arn:aws:dynamodb:eu-west-1:000000000000:table/abc";
  EXPECT_EQ(refusal(elsewhere).message, invalid + elsewhere);
  EXPECT_EQ(tables().tag(elsewhere, {}).error().message, invalid + elsewhere);
  const std::string missing = "arn:aws:dynamodb:us-east-1:000000000000:table/nope";
  EXPECT_EQ(refusal(missing).type, store::ErrorType::resource_not_found);
  EXPECT_EQ(refusal(missing).message, "Requested resource not found: ResourceArn: " + missing + " not found");
  EXPECT_EQ(tables().tag(missing, {{"a", "b"}}).error().message,
            "Requested resource not found: ResourceArn: " + missing + " not found");
  EXPECT_EQ(tables().untag(missing, {"a"}).error().type, store::ErrorType::resource_not_found);
}

}  // namespace
}  // namespace postino::engine
