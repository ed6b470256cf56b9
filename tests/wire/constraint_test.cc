// Rules for the shape of requests, their texts, and how they are put together.
#include "endpoint_testing.h"

namespace postino::wire {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ConstraintTest : public EndpointTest {
 protected:
  struct Case {
    const char* operation;
    const char* body;
    const char* message;
  };

  template <std::size_t count>
  void expect(const Case (&cases)[count]) {
    for (const auto& [operation, body, message] : cases)
      EXPECT_EQ(refusal(operation, body), std::string("ValidationException: ") + message) << operation << body;
  }
};

TEST_F(ConstraintTest, WhatIsMissingIsListed) {
  const Case cases[] = {
      {"GetItem", "{}",
       "2 validation errors detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null; "
       "Value null at 'key' failed to satisfy constraint: Member must not be null"},
      {"PutItem", R"({"TableName":"abc"})",
       "1 validation error detected: Value null at 'item' failed to satisfy constraint: Member must not be null"},
      {"BatchGetItem", "{}",
       "1 validation error detected: Value null at 'requestItems' failed to satisfy constraint: Member must not be "
       "null"},
      {"BatchWriteItem", R"({"RequestItems":{"abc":[{"PutRequest":{}}]}})",
       "1 validation error detected: Value null at 'requestItems.abc.member.1.member.putRequest.item' failed to "
       "satisfy constraint: Member must not be null"},
      {"TransactGetItems", R"({"TransactItems":[{"Get":{"TableName":"abc"}}]})",
       "1 validation error detected: Value null at 'transactItems.1.member.get.key' failed to satisfy constraint: "
       "Member must not be null"},
      {"TransactWriteItems", R"({"TransactItems":[{"Update":{"TableName":"abc","Key":{}}}]})",
       "1 validation error detected: Value null at 'transactItems.1.member.update.updateExpression' failed to satisfy "
       "constraint: Member must not be null"},
      {"CreateTable", "{}", "The parameter 'TableName' is required but was not present in the request"},
      {"CreateTable", R"({"TableName":"abc","KeySchema":[{}],"AttributeDefinitions":[]})",
       "2 validation errors detected: Value null at 'keySchema.1.member.attributeName' failed to satisfy constraint: "
       "Member must not be null; Value null at 'keySchema.1.member.keyType' failed to satisfy constraint: Member must "
       "not be null"},
      {"UpdateTimeToLive", R"({"TableName":"abc","TimeToLiveSpecification":{"Enabled":true}})",
       "1 validation error detected: Value null at 'timeToLiveSpecification.attributeName' failed to satisfy "
       "constraint: Member must not be null"},
      {"GetShardIterator", R"({"StreamArn":"a","ShardId":"b"})",
       "1 validation error detected: Value null at 'shardIteratorType' failed to satisfy constraint: Member must not "
       "be null"},
      {"ExecuteStatement", "{}",
       "1 validation error detected: Value null at 'statement' failed to satisfy constraint: Member must not be null"},
  };
  expect(cases);
}

TEST_F(ConstraintTest, WordsMustBeKnown) {
  const Case cases[] = {
      {"PutItem", R"({"TableName":"abc","Item":{},"ReturnValues":"X"})",
       "1 validation error detected: Value 'X' at 'returnValues' failed to satisfy constraint: Member must satisfy "
       "enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"},
      {"GetItem", R"({"TableName":"abc","Key":{},"ReturnConsumedCapacity":"total"})",
       "1 validation error detected: Value 'total' at 'returnConsumedCapacity' failed to satisfy constraint: Member "
       "must satisfy enum value set: [INDEXES, TOTAL, NONE]"},
      {"Scan", R"({"TableName":"abc","Select":"X","ConditionalOperator":"Y"})",
       "2 validation errors detected: Value 'X' at 'select' failed to satisfy constraint: Member must satisfy enum "
       "value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]; Value 'Y' at "
       "'conditionalOperator' failed to satisfy constraint: Member must satisfy enum value set: [OR, AND]"},
      {"Query", R"({"TableName":"abc","KeyConditions":{"a":{"ComparisonOperator":"=="}}})",
       "1 validation error detected: Value '==' at 'keyConditions.a.member.comparisonOperator' failed to satisfy "
       "constraint: Member must satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, "
       "LE, BEGINS_WITH, GE, CONTAINS]"},
      {"CreateTable",
       R"({"TableName":"abc","KeySchema":[{"AttributeName":"a","KeyType":"X"}],)"
       R"("AttributeDefinitions":[{"AttributeName":"a","AttributeType":"L"}],"BillingMode":"FREE"})",
       "3 validation errors detected: Value 'L' at 'attributeDefinitions.1.member.attributeType' failed to satisfy "
       "constraint: Member must satisfy enum value set: [B, N, S]; Value 'FREE' at 'billingMode' failed to satisfy "
       "constraint: Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]; Value 'X' at "
       "'keySchema.1.member.keyType' failed to satisfy constraint: Member must satisfy enum value set: [HASH, RANGE]"},
      {"CreateTable", R"({"TableName":"abc","KeySchema":[],"AttributeDefinitions":[],"TableClass":"GOLD"})",
       "Invalid table-class parameter provided. Please try again with a valid table-class value: [STANDARD, "
       "STANDARD_INFREQUENT_ACCESS]."},
  };
  expect(cases);
}

TEST_F(ConstraintTest, AWrongTableNameIsReportedAlone) {
  const std::string too_long(256, 'a');
  EXPECT_EQ(refusal("PutItem", R"({"TableName":"","ReturnValues":"X"})"),
            "ValidationException: 1 validation error detected: Value '' at 'tableName' failed to satisfy constraint: "
            "Member must have length greater than or equal to 1");
  EXPECT_EQ(refusal("GetItem", R"({"TableName":"a b"})"),
            "ValidationException: 1 validation error detected: Value 'a b' at 'tableName' failed to satisfy "
            "constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+");
  EXPECT_EQ(refusal("Scan", R"({"TableName":")" + too_long + R"("})"),
            "ValidationException: 1 validation error detected: Value '" + too_long +
                "' at 'tableName' failed to satisfy constraint: Member must have length less than or equal to 255");
  EXPECT_THAT(refusal("DescribeTable", R"({"TableName":"ab"})"), HasSubstr("greater than or equal to 3"));
}

TEST_F(ConstraintTest, ATableCanBeNamedByItsArn) {
  create_table("by-arn");
  const std::string arn = "arn:aws:dynamodb:us-east-1:000000000000:table/by-arn";
  answer("PutItem", R"({"TableName":")" + arn + R"(","Item":{"pk":{"S":"a"}}})");
  EXPECT_EQ(answer("GetItem", R"({"TableName":"by-arn","Key":{"pk":{"S":"a"}}})"), R"({"Item":{"pk":{"S":"a"}}})");
  EXPECT_THAT(answer("DescribeTable", R"({"TableName":")" + arn + R"("})"), HasSubstr(R"("TableName":"by-arn")"));
}

TEST_F(ConstraintTest, NoMoreThanTenAreReported) {
  std::string items;
  for (int i = 0; i < 12; ++i) items += std::string(i > 0 ? "," : "") + R"({"Get":{"TableName":"abc"}})";
  EXPECT_THAT(refusal("TransactGetItems", R"({"TransactItems":[)" + items + "]}"),
              StartsWith("ValidationException: 10 validation errors detected: "));
}

TEST_F(ConstraintTest, BatchesAndTransactionsHaveLimits) {
  std::string puts;
  for (int i = 0; i < 26; ++i)
    puts += std::string(i > 0 ? "," : "") + R"({"PutRequest":{"Item":{"pk":{"S":")" + std::to_string(i) + R"("}}}})";
  const std::string too_many = refusal("BatchWriteItem", R"({"RequestItems":{"abc":[)" + puts + "]}}");
  EXPECT_THAT(too_many, StartsWith("ValidationException: 1 validation error detected: Value "
                                   "'{abc=[WriteRequest(putRequest=PutRequest(item={pk=AttributeValue(s=0, n=null"));
  EXPECT_THAT(too_many, HasSubstr("]}' at 'requestItems' failed to satisfy constraint: Map value must satisfy "
                                  "constraint: [Member must have length less than or equal to 25, Member must have "
                                  "length greater than or equal to 1]"));
  const Case cases[] = {
      {"BatchWriteItem", R"({"RequestItems":{}})", "The requestItems parameter is required for BatchWriteItem"},
      {"BatchGetItem", R"({"RequestItems":{}})", "The requestItems parameter is required for BatchGetItem"},
      {"BatchWriteItem", R"({"RequestItems":{"abc":[{}]}})",
       "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"},
      {"TransactWriteItems", R"({"TransactItems":[]})",
       "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: Member must have "
       "length greater than or equal to 1"},
      {"TransactGetItems", R"({"TransactItems":[]})",
       "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: Member must have "
       "length greater than or equal to 1"},
      {"TransactWriteItems", R"({"TransactItems":[{}]})",
       "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"},
      {"UpdateTable", R"({"TableName":"abc","GlobalSecondaryIndexUpdates":[{}]})",
       "One or more parameter values were invalid: One of GlobalSecondaryIndexUpdate.Update, "
       "GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null"},
  };
  expect(cases);
  std::string gets;
  for (int i = 0; i < 101; ++i)
    gets += std::string(i > 0 ? "," : "") + R"({"Get":{"TableName":"abc","Key":{"pk":{"S":"a"}}}})";
  EXPECT_THAT(refusal("TransactGetItems", R"({"TransactItems":[)" + gets + "]}"),
              HasSubstr("]' at 'transactItems' failed to satisfy constraint: Member must have length less than or "
                        "equal to 100"));
}

TEST_F(ConstraintTest, ValuesThatBreakARuleAreFoundBeforeTheTable) {
  const Case cases[] = {
      {"PutItem", R"({"TableName":"none","Item":{"a":{"N":"x"}}})",
       "The parameter cannot be converted to a numeric value: x"},
      {"GetItem", R"({"TableName":"none","Key":{"a":{}}})",
       "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
      {"PutItem",
       R"({"TableName":"none","Item":{},"ConditionExpression":"a = :a","ExpressionAttributeValues":{":a":{"SS":[]}}})",
       "ExpressionAttributeValues contains invalid value: One or more parameter values were invalid: An string set  "
       "may not be empty for key :a"},
      {"Query", R"({"TableName":"none","ExclusiveStartKey":{"a":{"NULL":false}},"KeyConditionExpression":"a = :a"})",
       "The provided starting key is invalid: One or more parameter values were invalid: Null attribute value types "
       "must have the value of true"},
      {"Scan", R"({"TableName":"none","ExclusiveStartKey":{"a":{"N":"x"}}})",
       "The parameter cannot be converted to a numeric value: x"},
  };
  expect(cases);
}

}  // namespace
}  // namespace postino::wire
