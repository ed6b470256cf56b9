// What is asked of key attributes in queries, in paths and in batches.
#include "endpoint_testing.h"

namespace postino::wire {
namespace {

class KeyAttributeTest : public EndpointTest {
 protected:
  KeyAttributeTest() {
    create_table("plain");
    create_table("sorted", true);
    answer("CreateTable", R"({"TableName":"many","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"h1","AttributeType":"S"},
          {"AttributeName":"h2","AttributeType":"S"},{"AttributeName":"a","AttributeType":"S"},
          {"AttributeName":"b","AttributeType":"S"},{"AttributeName":"g","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
        "GlobalSecondaryIndexes":[{"IndexName":"several","KeySchema":[{"AttributeName":"h1","KeyType":"HASH"},
          {"AttributeName":"h2","KeyType":"HASH"},{"AttributeName":"a","KeyType":"RANGE"},
          {"AttributeName":"b","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}},
         {"IndexName":"one","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],
          "Projection":{"ProjectionType":"ALL"}}]})");
    for (const char* b : {"1", "2", "3"})
      answer("PutItem", std::string(R"({"TableName":"many","Item":{"pk":{"S":")") + b +
                            R"("},"h1":{"S":"h"},"h2":{"S":"h"},"a":{"S":"a"},"b":{"S":")" + b + "\"}}}");
  }

  static std::string query(const std::string& condition, const std::string& index = "several") {
    std::string values;
    for (const char* value : {":h", ":a", ":b"})
      if (condition.find(value) != std::string::npos)
        values.append(values.empty() ? "" : ",").append("\"").append(value).append(R"(":{"S":")") +=
            value[1] == 'b' ? "2\"}" : std::string(1, value[1]) + "\"}";
    return R"({"TableName":"many","IndexName":")" + index + R"(","KeyConditionExpression":")" + condition +
           R"(","ExpressionAttributeValues":{)" + values + "}}";
  }
  static std::string equal(const std::string& name, const std::string& value) {
    return "\"" + name + R"(":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":")" + value + "\"}]}";
  }
};

TEST_F(KeyAttributeTest, KeysOfSeveralAttributesAreEquatedFromTheFirst) {
  EXPECT_THAT(answer("Query", query("h1 = :h AND h2 = :h AND a = :a AND b >= :b")), testing::HasSubstr(R"("Count":2)"));
  const auto refused = [&](const std::string& condition) { return refusal("Query", query(condition)); };
  const std::string hash = "ValidationException: HASH key attributes ";
  const std::string range = "ValidationException: RANGE key attributes ";
  const std::string specified = " must have equality conditions specified in the query";
  EXPECT_EQ(refused("h1 = :h"), hash + "h2" + specified);
  EXPECT_EQ(refused("h1 = :h AND h2 > :h"), hash + "h2" + specified);
  EXPECT_EQ(refused("a = :a"), hash + "h1, h2" + specified);
  EXPECT_EQ(refused("h1 = :h AND h2 = :h AND b = :b"),
            range + "a" + specified + " because a condition is present on key attribute b");
  EXPECT_EQ(refused("h1 = :h AND h2 = :h AND a > :a AND b = :b"),
            range + "a" + specified + " because a condition is present on key attribute b");
}

TEST_F(KeyAttributeTest, KeyConditionsAreAsManyAsTheKeyHasAttributes) {
  const std::string all = equal("h1", "h") + "," + equal("h2", "h") + "," + equal("a", "a") + "," + equal("b", "2");
  EXPECT_THAT(answer("Query", R"({"TableName":"many","IndexName":"several","KeyConditions":{)" + all + "}}"),
              testing::HasSubstr(R"("Count":1)"));
  const std::string too_many = "ValidationException: Conditions can be of length 1 or 2 only";
  const std::string three = equal("h1", "h") + "," + equal("h2", "h") + "," + equal("g", "g");
  EXPECT_EQ(refusal("Query", R"({"TableName":"many","IndexName":"one","KeyConditions":{)" + three + "}}"), too_many);
  EXPECT_EQ(refusal("Query", R"({"TableName":"many","KeyConditions":{)" + three + "}}"), too_many);
}

TEST_F(KeyAttributeTest, OneAttributeKeepsItsTexts) {
  EXPECT_EQ(refusal("Query", query("a = :a", "one")),
            "ValidationException: Query condition missed key schema element: g");
  EXPECT_EQ(refusal("Query", query("g > :a", "one")), "ValidationException: Query key condition not supported");
}

TEST_F(KeyAttributeTest, NoPathLeadsIntoAKey) {
  const std::string scalars =
      "ValidationException: Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
      "allowed: ";
  const std::string key = R"({"TableName":"many","Key":{"pk":{"S":"1"}},)";
  EXPECT_EQ(refusal("GetItem", key + R"("ProjectionExpression":"pk.x"})"), scalars + "Key: pk");
  EXPECT_EQ(refusal("GetItem", key + R"("ProjectionExpression":"a[0]"})"), scalars + "IndexKey: a");
  EXPECT_EQ(refusal("Scan", R"({"TableName":"many","ProjectionExpression":"g[0]"})"), scalars + "IndexKey: g");
  EXPECT_EQ(refusal("Scan", R"({"TableName":"many","FilterExpression":"pk.x = a"})"), scalars + "Key: pk");
  std::string filtered = query("g = :a", "one");
  filtered.insert(filtered.size() - 1, R"(,"FilterExpression":"pk.x = a")");
  EXPECT_EQ(refusal("Query", filtered), scalars + "Key: pk");
  std::string projected = query("g = :a", "one");
  projected.insert(projected.size() - 1, R"(,"ProjectionExpression":"h1.x")");
  EXPECT_EQ(refusal("Query", projected), scalars + "IndexKey: h1");
  EXPECT_EQ(refusal("BatchGetItem", R"({"RequestItems":{"many":{"Keys":[{"pk":{"S":"1"}}],)"
                                    R"("ProjectionExpression":"pk[1]"}}})"),
            scalars + "Key: pk");
  for (const char* operation : {"DeleteItem", "UpdateItem"})
    EXPECT_EQ(refusal(operation, key + R"("ConditionExpression":"g.x = a"})"), scalars + "IndexKey: g");
  EXPECT_EQ(refusal("PutItem", R"({"TableName":"many","Item":{"pk":{"S":"1"}},)"
                               R"("ConditionExpression":"pk.x = a"})"),
            scalars + "Key: pk");
  EXPECT_THAT(
      call("TransactWriteItems", R"({"TransactItems":[{"Delete":)" + key + R"("ConditionExpression":"pk.x = a"}}]})")
          .body,
      testing::HasSubstr("\"Code\":\"ValidationError\",\"Message\":\"Key attributes must be scalars"));
  EXPECT_THAT(
      call("TransactGetItems", R"({"TransactItems":[{"Get":)" + key + R"("ProjectionExpression":"pk.x"}}]})").body,
      testing::HasSubstr("\"Code\":\"ValidationError\",\"Message\":\"Key attributes must be scalars"));
}

TEST_F(KeyAttributeTest, AQueryForOneItemHasNoPages) {
  answer("PutItem", R"({"TableName":"plain","Item":{"pk":{"S":"xyz"}}})");
  const std::string query = R"({"TableName":"plain","KeyConditionExpression":"pk = :p",)"
                            R"("ExpressionAttributeValues":{":p":{"S":"xyz"}},"Limit":1)";
  EXPECT_EQ(answer("Query", query + "}"), R"({"Count":1,"Items":[{"pk":{"S":"xyz"}}],"ScannedCount":1})");
  EXPECT_EQ(refusal("Query", query + R"(,"ExclusiveStartKey":{"pk":{"S":"xyz"}}})"),
            "ValidationException: The provided exclusive start key is invalid: ExclusiveStartKey: "
            "{pk=AttributeValue: {S:xyz}}");
}

TEST_F(KeyAttributeTest, ARangePredicateIsReportedBeforeThePartition) {
  const std::string query = R"({"TableName":"sorted","KeyConditionExpression":"pk = :p AND sk > :s",)"
                            R"("ExpressionAttributeValues":{":p":{"S":"a"},":s":{"S":"m"}},"ExclusiveStartKey":)";
  EXPECT_EQ(refusal("Query", query + R"({"pk":{"S":"b"},"sk":{"S":"a"}}})"),
            "ValidationException: The provided starting key does not match the range key predicate");
  EXPECT_EQ(refusal("Query", query + R"({"pk":{"S":"b"},"sk":{"S":"z"}}})"),
            "ValidationException: The query can return at most one row and cannot be restarted");
  EXPECT_EQ(refusal("Query", query + R"({"pk":{"S":"a"},"sk":{"S":"a"}}})"),
            "ValidationException: The provided starting key does not match the range key predicate");
}

TEST_F(KeyAttributeTest, SizesAndDuplicatesAreKnownBeforeTheTable) {
  const std::string large(409'700, 'x');
  const std::string item = R"({"pk":{"S":"a"},"x":{"S":")" + large + "\"}}";
  const std::string too_large = "ValidationException: Item size has exceeded the maximum allowed size";
  EXPECT_EQ(refusal("PutItem", R"({"TableName":"missing","Item":)" + item + "}"), too_large);
  EXPECT_EQ(refusal("BatchWriteItem", R"({"RequestItems":{"missing":[{"PutRequest":{"Item":)" + item + "}}]}}"),
            too_large);
  EXPECT_EQ(refusal("TransactWriteItems", R"({"TransactItems":[{"Put":{"TableName":"missing","Item":)" + item + "}}]}"),
            too_large);
  const std::string duplicates = "ValidationException: Provided list of item keys contains duplicates";
  EXPECT_EQ(refusal("BatchGetItem", R"({"RequestItems":{"missing":{"Keys":[{"n":{"N":"1"}},{"n":{"N":"1.0"}}]}}})"),
            duplicates);
  EXPECT_EQ(refusal("BatchWriteItem", R"({"RequestItems":{"missing":[{"DeleteRequest":{"Key":{"pk":{"S":"a"}}}},)"
                                      R"({"DeleteRequest":{"Key":{"pk":{"S":"a"}}}}]}})"),
            duplicates);
  EXPECT_EQ(refusal("BatchGetItem", R"({"RequestItems":{"missing":{"Keys":[{"pk":{"S":"a"}},{"pk":{"S":"b"}}]}}})"),
            "ResourceNotFoundException: Requested resource not found");
}

TEST_F(KeyAttributeTest, ABatchTellsOfKeysThatAreTooLong) {
  const std::string key = R"({"pk":{"S":")" + std::string(2'049, 'k') + "\"}}";
  const std::string too_long =
      "ValidationException: One or more parameter values were invalid: Size of hashkey has exceeded the maximum size "
      "limit of2048 bytes";
  EXPECT_EQ(refusal("BatchWriteItem", R"({"RequestItems":{"plain":[{"PutRequest":{"Item":)" + key + "}}]}}"), too_long);
  EXPECT_EQ(refusal("BatchWriteItem", R"({"RequestItems":{"plain":[{"DeleteRequest":{"Key":)" + key + "}}]}}"),
            too_long);
  EXPECT_EQ(refusal("BatchWriteItem", R"({"RequestItems":{"plain":[{"PutRequest":{"Item":{"pk":{"N":"1"}}}}]}})"),
            "ValidationException: The provided key element does not match the schema");
}

}  // namespace
}  // namespace postino::wire
