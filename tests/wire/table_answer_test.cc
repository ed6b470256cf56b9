// What is told of tables, and what is asked of their definitions.
#include "endpoint_testing.h"

namespace postino::wire {
namespace {

using testing::HasSubstr;
using testing::Not;

class TableAnswerTest : public EndpointTest {
 protected:
  static constexpr const char* with_indexes = R"({"TableName":"tbl","BillingMode":"PAY_PER_REQUEST",
      "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"},
        {"AttributeName":"a","AttributeType":"S"}],
      "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
      "LocalSecondaryIndexes":[{"IndexName":"local","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},
        {"AttributeName":"a","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}],
      "GlobalSecondaryIndexes":[{"IndexName":"global","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],
        "Projection":{"ProjectionType":"ALL"}}]})";
  static constexpr const char* invalid = "ValidationException: One or more parameter values were invalid: ";
};

TEST_F(TableAnswerTest, ADeletedTableIsToldWithoutItsParts) {
  answer("CreateTable", with_indexes);
  EXPECT_THAT(answer("DescribeTable", R"({"TableName":"tbl"})"), HasSubstr("GlobalSecondaryIndexes"));
  const std::string deleted = answer("DeleteTable", R"({"TableName":"tbl"})");
  EXPECT_THAT(deleted, HasSubstr(R"({"TableDescription":{"TableName":"tbl","TableStatus":"DELETING",)"));
  EXPECT_THAT(deleted, HasSubstr("TableId"));
  for (const char* part : {"AttributeDefinitions", "KeySchema", "CreationDateTime", "SecondaryIndexes"})
    EXPECT_THAT(deleted, Not(HasSubstr(part)));
}

TEST_F(TableAnswerTest, AnIndexUpdateHasOneAction) {
  answer("CreateTable", with_indexes);
  EXPECT_EQ(
      refusal("UpdateTable", R"({"TableName":"tbl","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"global"},
                "Update":{"IndexName":"global","ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}}}]})"),
      std::string(invalid) + "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object");
  EXPECT_THAT(answer("DescribeTable", R"({"TableName":"tbl"})"), HasSubstr("\"global\""));
}

TEST_F(TableAnswerTest, LongNamesInDefinitionsAreReportedFirst) {
  create_table("tbl");
  const std::string name(256, 'n');
  EXPECT_THAT(
      refusal("UpdateTable", R"({"TableName":"tbl","AttributeDefinitions":[{"AttributeName":")" + name +
                                 R"(","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":{
          "IndexName":"i12","KeySchema":[{"AttributeName":"other","KeyType":"HASH"}],
          "Projection":{"ProjectionType":"ALL"}}}]})"),
      HasSubstr("at 'attributeDefinitions.1.member.attributeName' failed to satisfy constraint: Member must have "
                "length less than or equal to 255"));
}

TEST_F(TableAnswerTest, ANameTwiceInAnIndexIsReportedBeforeUnusedDefinitions) {
  const auto create = [](const std::string& keys) {
    return R"({"TableName":"tbl","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"a","AttributeType":"S"},
          {"AttributeName":"unused","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
        "GlobalSecondaryIndexes":[{"IndexName":"global","KeySchema":[)" +
           keys + R"(],"Projection":{"ProjectionType":"ALL"}}]})";
  };
  const std::string hash = R"({"AttributeName":"a","KeyType":"HASH"})";
  EXPECT_EQ(refusal("CreateTable", create(hash + R"(,{"AttributeName":"a","KeyType":"RANGE"})")),
            "ValidationException: Both the Hash Key and the Range Key element in the KeySchema have the same name");
  EXPECT_EQ(refusal("CreateTable", create(hash + "," + hash)),
            "ValidationException: The KeySchema contains multiple key attributes with the same name");
  EXPECT_THAT(refusal("CreateTable", create(hash)), HasSubstr("Some AttributeDefinitions are not used"));
}

TEST_F(TableAnswerTest, AShardFilterHasBothMembers) {
  const auto refused = [&](const std::string& filter) {
    return refusal("DescribeStream", R"({"StreamArn":"arn","ShardFilter":)" + filter + "}");
  };
  EXPECT_EQ(
      refused("{}"),
      "ValidationException: 2 validation errors detected: Value null at 'shardFilter.shardId' failed to satisfy "
      "constraint: Member must not be null; Value null at 'shardFilter.type' failed to satisfy constraint: Member "
      "must not be null");
  EXPECT_EQ(
      refused(R"({"Type":"CHILD_SHARDS","ShardId":"short"})"),
      "ValidationException: 1 validation error detected: Value 'short' at 'shardFilter.shardId' failed to satisfy "
      "constraint: Member must have length greater than or equal to 28");
  EXPECT_THAT(
      refused(R"({"Type":"ALL_SHARDS","ShardId":")" + std::string(66, 's') + "\"}"),
      testing::AllOf(HasSubstr("less than or equal to 65"), HasSubstr("Value 'ALL_SHARDS' at 'shardFilter.type'")));
}

TEST_F(TableAnswerTest, BatchesCallTablesWhatTheCallerCalledThem) {
  create_table("tbl");
  const std::string arn = "arn:aws:dynamodb:us-east-1:000000000000:table/tbl";
  answer("BatchWriteItem", R"({"RequestItems":{")" + arn + R"(":[{"PutRequest":{"Item":{"pk":{"S":"a"}}}}]}})");
  EXPECT_EQ(answer("BatchGetItem", R"({"RequestItems":{")" + arn + R"(":{"Keys":[{"pk":{"S":"a"}}]}}})"),
            R"({"Responses":{")" + arn + R"(":[{"pk":{"S":"a"}}]},"UnprocessedKeys":{}})");
  EXPECT_EQ(answer("BatchGetItem", R"({"RequestItems":{"tbl":{"Keys":[{"pk":{"S":"a"}}]}}})"),
            R"({"Responses":{"tbl":[{"pk":{"S":"a"}}]},"UnprocessedKeys":{}})");
}

TEST_F(TableAnswerTest, SerializationTellsTheProtocolsNamesOfTypes) {
  const auto told = [&](const std::string& operation, const std::string& body) { return call(operation, body).body; };
  const std::string type = "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.";
  const std::string map =
      "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.";
  EXPECT_THAT(told("PutItem", R"({"Expected":[]})"), HasSubstr(map + "ExpectedAttributeValue>"));
  EXPECT_THAT(told("PutItem", R"({"Expected":{"a":[]}})"), HasSubstr(type + "ExpectedAttributeValue"));
  EXPECT_THAT(told("Scan", R"({"ScanFilter":[]})"), HasSubstr(map + "Condition>"));
  EXPECT_THAT(told("CreateTable", R"({"LocalSecondaryIndexes":[[]]})"), HasSubstr(type + "LocalSecondaryIndex"));
  EXPECT_THAT(told("CreateTable", R"({"LocalSecondaryIndexes":[{"Projection":[]}]})"), HasSubstr(type + "Projection"));
  EXPECT_THAT(told("CreateTable", R"({"GlobalSecondaryIndexes":[[]]})"), HasSubstr(type + "GlobalSecondaryIndex\""));
  for (const char* action : {"Create", "Update", "Delete"})
    EXPECT_THAT(told("UpdateTable", std::string(R"({"GlobalSecondaryIndexUpdates":[{")") + action + "\":[]}]}"),
                HasSubstr(type + action + "GlobalSecondaryIndexAction"));
}

}  // namespace
}  // namespace postino::wire
