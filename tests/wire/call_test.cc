// Each operation once, from its JSON to its JSON.
#include "endpoint_testing.h"

namespace postino::wire {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class CallTest : public EndpointTest {
 protected:
  CallTest() { create_table("items", true); }
};

TEST_F(CallTest, ItemsOfEveryTypeComeBackAsTheyWere) {
  const std::string item =
      R"({"b":{"B":"AAEC/w=="},"bs":{"BS":["AA==","AQ=="]},"f":{"BOOL":false},"l":{"L":[{"N":"1"},{"L":[]}]},)"
      R"("m":{"M":{"k":{"S":""}}},"n":{"N":"-1.5"},"ns":{"NS":["1","2"]},"nu":{"NULL":true},"pk":{"S":"a"},)"
      R"("s":{"S":"\u20ac \"q\" \\ \n"},"sk":{"S":"1"},"ss":{"SS":["x","y"]},"t":{"BOOL":true}})";
  answer("PutItem", R"({"TableName":"items","Item":)" + item + "}");
  EXPECT_EQ(answer("GetItem", R"({"TableName":"items","Key":{"pk":{"S":"a"},"sk":{"S":"1"}},"ConsistentRead":true})"),
            R"({"Item":{"b":{"B":"AAEC/w=="},"bs":{"BS":["AA==","AQ=="]},"f":{"BOOL":false},"l":{"L":[{"N":"1"},)"
            R"({"L":[]}]},"m":{"M":{"k":{"S":""}}},"n":{"N":"-1.5"},"ns":{"NS":["1","2"]},"nu":{"NULL":true},)"
            "\"pk\":{\"S\":\"a\"},\"s\":{\"S\":\"\xe2\x82\xac \\\"q\\\" \\\\ \\n\"},"
            R"("sk":{"S":"1"},"ss":{"SS":["x","y"]},"t":{"BOOL":true}}})");
  EXPECT_EQ(answer("GetItem", R"({"TableName":"items","Key":{"pk":{"S":"a"},"sk":{"S":"2"}}})"), "{}");
}

TEST_F(CallTest, WritesReturnWhatWasAskedFor) {
  const std::string key = R"("TableName":"items","Key":{"pk":{"S":"a"},"sk":{"S":"1"}})";
  EXPECT_EQ(answer("UpdateItem", "{" + key +
                                     R"(,"UpdateExpression":"SET #n = :one","ReturnValues":"UPDATED_NEW",)"
                                     R"("ExpressionAttributeNames":{"#n":"n"},)"
                                     R"("ExpressionAttributeValues":{":one":{"N":"1"}},)"
                                     R"("ReturnConsumedCapacity":"TOTAL"})"),
            R"({"Attributes":{"n":{"N":"1"}},"ConsumedCapacity":{"TableName":"items","CapacityUnits":1.0}})");
  EXPECT_EQ(answer("DeleteItem", "{" + key + R"(,"ReturnValues":"ALL_OLD","ReturnConsumedCapacity":"INDEXES"})"),
            R"({"Attributes":{"n":{"N":"1"},"pk":{"S":"a"},"sk":{"S":"1"}},"ConsumedCapacity":{"TableName":"items",)"
            R"("CapacityUnits":1.0,"Table":{"CapacityUnits":1.0}}})");
  EXPECT_EQ(answer("DeleteItem", "{" + key + "}"), "{}");
}

TEST_F(CallTest, AFailedConditionCanReturnTheItem) {
  answer("PutItem", R"({"TableName":"items","Item":{"pk":{"S":"a"},"sk":{"S":"1"}}})");
  EXPECT_EQ(
      call("PutItem",
           R"({"TableName":"items","Item":{"pk":{"S":"a"},"sk":{"S":"1"}},)"
           R"-("ConditionExpression":"attribute_not_exists(pk)","ReturnValuesOnConditionCheckFailure":"ALL_OLD"})-")
          .body,
      R"({"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",)"
      R"("Item":{"pk":{"S":"a"},"sk":{"S":"1"}},"message":"The conditional request failed"})");
}

TEST_F(CallTest, PagesCountAndContinue) {
  for (const char* sk : {"1", "2", "3"})
    answer("PutItem", std::string(R"({"TableName":"items","Item":{"pk":{"S":"a"},"sk":{"S":")") + sk + "\"}}}");
  const std::string query =
      R"({"TableName":"items","KeyConditionExpression":"pk = :a","ExpressionAttributeValues":{":a":{"S":"a"}})";
  EXPECT_EQ(answer("Query", query + R"(,"Limit":2,"ScanIndexForward":false,"ReturnConsumedCapacity":"TOTAL"})"),
            R"({"ConsumedCapacity":{"TableName":"items","CapacityUnits":0.5},"Count":2,)"
            R"("Items":[{"pk":{"S":"a"},"sk":{"S":"3"}},{"pk":{"S":"a"},"sk":{"S":"2"}}],)"
            R"("LastEvaluatedKey":{"pk":{"S":"a"},"sk":{"S":"2"}},"ScannedCount":2})");
  EXPECT_EQ(answer("Query", query + R"(,"Select":"COUNT","ExclusiveStartKey":{"pk":{"S":"a"},"sk":{"S":"1"}}})"),
            R"({"Count":2,"ScannedCount":2})");
  EXPECT_EQ(answer("Scan", R"({"TableName":"items","ProjectionExpression":"sk","Segment":0,"TotalSegments":1})"),
            R"({"Count":3,"Items":[{"sk":{"S":"1"}},{"sk":{"S":"2"}},{"sk":{"S":"3"}}],"ScannedCount":3})");
}

TEST_F(CallTest, BatchesTellWhatTheyDidNotDo) {
  EXPECT_EQ(answer("BatchWriteItem",
                   R"({"RequestItems":{"items":[{"PutRequest":{"Item":{"pk":{"S":"a"},"sk":{"S":"1"}}}},)"
                   R"({"DeleteRequest":{"Key":{"pk":{"S":"a"},"sk":{"S":"2"}}}}]},"ReturnConsumedCapacity":"TOTAL"})"),
            R"({"ConsumedCapacity":[{"TableName":"items","CapacityUnits":2.0}],"UnprocessedItems":{}})");
  EXPECT_EQ(answer("BatchGetItem", R"({"RequestItems":{"items":{"Keys":[{"pk":{"S":"a"},"sk":{"S":"1"}},)"
                                   R"({"pk":{"S":"a"},"sk":{"S":"2"}}],"AttributesToGet":["sk"]}}})"),
            R"({"Responses":{"items":[{"sk":{"S":"1"}}]},"UnprocessedKeys":{}})");
}

TEST_F(CallTest, TransactionsDoAllOrTellWhyNot) {
  const std::string put = R"({"Put":{"TableName":"items","Item":{"pk":{"S":"a"},"sk":{"S":"1"}},)"
                          R"-("ConditionExpression":"attribute_not_exists(pk)",)-"
                          R"("ReturnValuesOnConditionCheckFailure":"ALL_OLD"}})";
  const std::string update = R"({"Update":{"TableName":"items","Key":{"pk":{"S":"a"},"sk":{"S":"2"}},)"
                             R"("UpdateExpression":"SET n = :n","ExpressionAttributeValues":{":n":{"N":"1"}}}})";
  EXPECT_EQ(answer("TransactWriteItems",
                   R"({"ReturnConsumedCapacity":"TOTAL","TransactItems":[)" + put + "," + update + "]}"),
            R"({"ConsumedCapacity":[{"TableName":"items","CapacityUnits":4.0,"WriteCapacityUnits":4.0}]})");
  EXPECT_EQ(call("TransactWriteItems", R"({"TransactItems":[)" + update + "," + put + "]}").body,
            R"({"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","CancellationReasons":[)"
            R"({"Code":"None"},{"Code":"ConditionalCheckFailed","Item":{"pk":{"S":"a"},"sk":{"S":"1"}},)"
            R"("Message":"The conditional request failed"}],"Message":"Transaction cancelled, please refer )"
            R"(cancellation reasons for specific reasons [None, ConditionalCheckFailed]"})");
  EXPECT_EQ(answer("TransactGetItems",
                   R"({"TransactItems":[{"Get":{"TableName":"items","Key":{"pk":{"S":"a"},"sk":{"S":"2"}},)"
                   R"("ProjectionExpression":"n"}},{"Get":{"TableName":"items",)"
                   R"("Key":{"pk":{"S":"a"},"sk":{"S":"9"}}}}]})"),
            R"({"Responses":[{"Item":{"n":{"N":"1"}}},{}]})");
}

TEST_F(CallTest, TablesAreDescribed) {
  const std::string created =
      answer("CreateTable",
             R"({"TableName":"full","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},)"
             R"({"AttributeName":"r","AttributeType":"N"},{"AttributeName":"g","AttributeType":"B"}],)"
             R"("KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],)"
             R"("LocalSecondaryIndexes":[{"IndexName":"local","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},)"
             R"({"AttributeName":"g","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],)"
             R"("GlobalSecondaryIndexes":[{"IndexName":"global","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],)"
             R"("Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["x"]},)"
             R"("ProvisionedThroughput":{"ReadCapacityUnits":3,"WriteCapacityUnits":4}}],)"
             R"("ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":2},)"
             R"("StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},)"
             R"("DeletionProtectionEnabled":true,"TableClass":"STANDARD_INFREQUENT_ACCESS"})");
  EXPECT_THAT(created, AllOf(HasSubstr(R"({"TableDescription":{)"), HasSubstr(R"("TableStatus":"CREATING")")));
  const std::string described = answer("DescribeTable", R"({"TableName":"full"})");
  EXPECT_THAT(
      described,
      AllOf(
          HasSubstr(R"({"Table":{)"), HasSubstr(R"("TableStatus":"ACTIVE")"),
          HasSubstr(R"("KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}])"),
          HasSubstr(R"("TableArn":"arn:aws:dynamodb:us-east-1:000000000000:table/full")"),
          HasSubstr(R"("Projection":{"NonKeyAttributes":["x"],"ProjectionType":"INCLUDE"},"IndexStatus":"ACTIVE")"),
          HasSubstr(R"("ReadCapacityUnits":3,"WriteCapacityUnits":4)"),
          HasSubstr(R"("StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"})"),
          HasSubstr(R"("TableClass":"STANDARD_INFREQUENT_ACCESS")"), HasSubstr(R"("DeletionProtectionEnabled":true)"),
          HasSubstr(R"("ItemCount":0)"), Not(HasSubstr("BillingModeSummary"))));
  EXPECT_EQ(refusal("DeleteTable", R"({"TableName":"full"})"),
            "ValidationException: Resource cannot be deleted as it is currently protected against deletion. Disable "
            "deletion protection first.");
  answer("UpdateTable", R"({"TableName":"full","DeletionProtectionEnabled":false})");
  EXPECT_THAT(answer("DeleteTable", R"({"TableName":"full"})"), HasSubstr(R"("TableStatus":"DELETING")"));
  EXPECT_EQ(answer("ListTables", R"({"Limit":1})"), R"({"TableNames":["items"]})");
}

TEST_F(CallTest, SettingsAndTagsAreKept) {
  EXPECT_EQ(answer("DescribeTimeToLive", R"({"TableName":"items"})"),
            R"({"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}})");
  EXPECT_EQ(answer("UpdateTimeToLive",
                   R"({"TableName":"items","TimeToLiveSpecification":{"AttributeName":"ttl","Enabled":true}})"),
            R"({"TimeToLiveSpecification":{"AttributeName":"ttl","Enabled":true}})");
  EXPECT_EQ(answer("DescribeTimeToLive", R"({"TableName":"items"})"),
            R"({"TimeToLiveDescription":{"AttributeName":"ttl","TimeToLiveStatus":"ENABLED"}})");
  EXPECT_EQ(answer("DescribeContinuousBackups", R"({"TableName":"items"})"),
            R"({"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED",)"
            R"("PointInTimeRecoveryDescription":{"PointInTimeRecoveryStatus":"DISABLED"}}})");
  EXPECT_THAT(answer("UpdateContinuousBackups",
                     R"({"TableName":"items","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}})"),
              HasSubstr(R"("PointInTimeRecoveryStatus":"ENABLED","RecoveryPeriodInDays":35)"));
  const std::string arn = R"("ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/items")";
  EXPECT_EQ(answer("TagResource", "{" + arn + R"(,"Tags":[{"Key":"a","Value":"1"},{"Key":"b","Value":""}]})"), "");
  EXPECT_EQ(answer("UntagResource", "{" + arn + R"(,"TagKeys":["a"]})"), "");
  EXPECT_EQ(answer("ListTagsOfResource", "{" + arn + "}"), R"({"Tags":[{"Key":"b","Value":""}]})");
}

TEST_F(CallTest, ATableIsRestored) {
  answer("UpdateContinuousBackups",
         R"({"TableName":"items","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}})");
  EXPECT_THAT(
      answer("RestoreTableToPointInTime",
             R"({"SourceTableName":"items","TargetTableName":"copy","UseLatestRestorableTime":true,)"
             R"("GlobalSecondaryIndexOverride":[],"BillingModeOverride":"PAY_PER_REQUEST"})"),
      AllOf(
          HasSubstr(R"("TableStatus":"CREATING")"),
          HasSubstr(
              R"("RestoreSummary":{"SourceTableArn":"arn:aws:dynamodb:us-east-1:000000000000:table/items","RestoreDateTime":)"),
          HasSubstr(R"("RestoreInProgress":true})")));
  EXPECT_EQ(refusal("RestoreTableToPointInTime", R"({"SourceTableName":"items","UseLatestRestorableTime":true})"),
            "ValidationException: 1 validation error detected: Value null at 'targetTableName' failed to satisfy "
            "constraint: Member must not be null");
  EXPECT_THAT(refusal("RestoreTableToPointInTime",
                      R"({"SourceTableName":"items","TargetTableName":"old","RestoreDateTime":1.5E9})"),
              HasSubstr("InvalidRestoreTimeException: "));
}

TEST_F(CallTest, ATableIsBackedUp) {
  EXPECT_THAT(
      answer("CreateBackup", R"({"TableName":"items","BackupName":"nightly"})"),
      MatchesRegex(R"(\{"BackupDetails":\{"BackupArn":"arn:aws:dynamodb:us-east-1:000000000000:table/items/backup/)"
                   R"([0-9]{14}-[0-9a-f]{8}","BackupName":"nightly","BackupSizeBytes":0,)"
                   R"("BackupStatus":"CREATING","BackupType":"USER","BackupCreationDateTime":[0-9.E]+\}\})"));
  EXPECT_THAT(answer("ListBackups", R"({"TableName":"items"})"),
              AllOf(HasSubstr(R"("TableName":"items")"), HasSubstr(R"("BackupName":"nightly")")));
  const std::string missing = "arn:aws:dynamodb:us-east-1:000000000000:table/items/backup/01767323045000-00000000";
  EXPECT_EQ(refusal("DescribeBackup", R"({"BackupArn":")" + missing + "\"}"),
            "BackupNotFoundException: Backup not found: " + missing);
  EXPECT_EQ(refusal("ListBackups", R"({"BackupType":"MINE"})"),
            "ValidationException: 1 validation error detected: Value 'MINE' at 'backupType' failed to satisfy "
            "constraint: Member must satisfy enum value set: [USER, SYSTEM, AWS_BACKUP, ALL]");
}

TEST_F(CallTest, WithoutAPlaceThereAreNoExports) {
  for (const std::string operation : {"ListExports", "ListImports"})
    EXPECT_THAT(refusal(operation, "{}"),
                HasSubstr("ValidationException: This server has no place for exports and imports"));
}

TEST_F(CallTest, TheServiceTellsOfItself) {
  EXPECT_EQ(answer("DescribeLimits", "{}"),
            R"({"AccountMaxReadCapacityUnits":80000,"AccountMaxWriteCapacityUnits":80000,)"
            R"("TableMaxReadCapacityUnits":40000,"TableMaxWriteCapacityUnits":40000})");
  EXPECT_EQ(answer("DescribeEndpoints", "{}"),
            R"({"Endpoints":[{"Address":"127.0.0.1:8000","CachePeriodInMinutes":1440}]})");
}

// The text between two others.
std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const std::size_t begin = text.find(before) + before.size();
  return text.substr(begin, text.find(after, begin) - begin);
}

TEST_F(CallTest, StreamsTellEveryChange) {
  answer("UpdateTable", R"({"TableName":"items","StreamSpecification":{"StreamEnabled":true,)"
                        R"("StreamViewType":"NEW_AND_OLD_IMAGES"}})");
  answer("PutItem", R"({"TableName":"items","Item":{"pk":{"S":"a"},"sk":{"S":"1"}}})");
  const std::string arn = between(answer("ListStreams", R"({"TableName":"items"})"), R"("StreamArn":")", "\"");
  const std::string described = answer("DescribeStream", R"({"StreamArn":")" + arn + R"("})");
  EXPECT_THAT(described, AllOf(HasSubstr(R"("StreamStatus":"ENABLED")"), HasSubstr(R"("TableName":"items")")));
  const std::string shard = between(described, R"("ShardId":")", "\"");
  EXPECT_THAT(shard, MatchesRegex("shardId-[0-9]{20}-[0-9a-f]{8}"));
  const std::string iterator =
      between(answer("GetShardIterator", R"({"StreamArn":")" + arn + R"(","ShardId":")" + shard +
                                             R"(","ShardIteratorType":"TRIM_HORIZON"})"),
              R"("ShardIterator":")", "\"");
  const std::string records = answer("GetRecords", R"({"ShardIterator":")" + iterator + R"("})");
  EXPECT_THAT(records, AllOf(HasSubstr(R"("eventName":"INSERT","eventVersion":"1.1","eventSource":"aws:dynamodb",)"
                                       R"("awsRegion":"us-east-1","dynamodb":{"ApproximateCreationDateTime":)"),
                             HasSubstr(R"("Keys":{"pk":{"S":"a"},"sk":{"S":"1"}},"NewImage":{)"),
                             HasSubstr(R"("NextShardIterator":")")));
  EXPECT_THAT(between(records, R"("eventID":")", "\""), MatchesRegex("[0-9a-f]{32}"));
}

TEST_F(CallTest, StatementsRun) {
  answer("ExecuteStatement", R"({"Statement":"INSERT INTO items VALUE {'pk':'a','sk':'1','n':?}",)"
                             R"("Parameters":[{"N":"1"}]})");
  EXPECT_EQ(answer("ExecuteStatement", R"({"Statement":"SELECT n FROM items WHERE pk='a' AND sk='1'"})"),
            R"({"Items":[{"n":{"N":"1"}}]})");
  EXPECT_EQ(answer("BatchExecuteStatement", R"({"Statements":[{"Statement":)"
                                            R"("SELECT n FROM items WHERE pk='a' AND sk='1'"}]})"),
            R"({"Responses":[{"Item":{"n":{"N":"1"}},"TableName":"items"}]})");
  EXPECT_EQ(answer("ExecuteTransaction", R"({"TransactStatements":[{"Statement":)"
                                         R"("UPDATE items SET n=2 WHERE pk='a' AND sk='1'"}]})"),
            R"({"Responses":[]})");
}

}  // namespace
}  // namespace postino::wire
