// What access keys with policies may do, as clients find it: requests are signed, and go the whole way.
#include <gmock/gmock.h>

#include <map>

#include "signed_calls_testing.h"
#include "wire/protocol/operation.h"

namespace postino::wire {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string statements(const std::string& list) { return R"({"Version":"2012-10-17","Statement":[)" + list + "]}"; }

class PolicyTest : public SignedCallsTest {
 protected:
  PolicyTest() { create_table("items", true); }

  void expect_allowed(const std::string& id, const std::string& operation, const std::string& body) {
    const http::Response response = as(id, operation, body);
    EXPECT_EQ(response.status, 200) << operation << " " << body << ": " << response.body;
    EXPECT_THAT(response.body, Not(HasSubstr("AccessDenied"))) << operation << " " << body;
  }

  // And nothing of the table is changed or shown.
  void expect_denied(const std::string& id, const std::string& operation, const std::string& body) {
    const std::string before = contents();
    const http::Response response = as(id, operation, body);
    EXPECT_THAT(response.body, HasSubstr("AccessDenied")) << operation << " " << body;
    EXPECT_THAT(response.body, Not(HasSubstr("secret"))) << operation << " " << body;
    EXPECT_EQ(contents(), before) << operation << " " << body;
  }

  std::string contents() {
    return as("admin", "Scan", R"({"TableName":"items"})").body + as("admin", "ListTables", "{}").body +
           as("admin", "DescribeTimeToLive", R"({"TableName":"items"})").body +
           as("admin", "DescribeContinuousBackups", R"({"TableName":"items"})").body;
  }

  void put(const std::string& pk, const std::string& sk) {
    expect_allowed("admin", "PutItem",
                   R"({"TableName":"items","Item":{"pk":{"S":")" + pk + R"("},"sk":{"S":")" + sk +
                       R"("},"seen":{"S":"shown"},"veiled":{"S":"secret"}}})");
  }

  void create_table_with_index() {
    answer(
        "CreateTable",
        R"({"TableName":"orders","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":)"
        R"([{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"holder","AttributeType":"S"}],)"
        R"("KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"GlobalSecondaryIndexes":[{"IndexName":"by-holder",)"
        R"("KeySchema":[{"AttributeName":"holder","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]})");
  }
};

const std::string deny_all = statements(R"({"Effect":"Deny","Action":"*","Resource":"*"})");
const std::string allow_other = statements(R"({"Effect":"Allow","Action":"*",)"
                                           R"("Resource":"arn:aws:dynamodb:*:*:table/others*"})");

const std::string arn = "arn:aws:dynamodb:us-east-1:000000000000:table/items";
const std::string stream_arn = arn + "/stream/2026-11-18T20:00:00.000";
const std::string item_key = R"({"pk":{"S":"a"},"sk":{"S":"1"}})";
const std::string on_item = R"("TableName":"items","Key":)" + item_key;

// A call of each operation that would be right.
const std::map<std::string, std::string>& calls() {
  static const std::map<std::string, std::string> calls = {
      {"GetItem", "{" + on_item + "}"},
      {"PutItem", R"({"TableName":"items","Item":)" + item_key + "}"},
      {"UpdateItem", "{" + on_item + "}"},
      {"DeleteItem", "{" + on_item + "}"},
      {"Query", R"({"TableName":"items","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":)"
                R"({":p":{"S":"a"}}})"},
      {"Scan", R"({"TableName":"items"})"},
      {"BatchGetItem", R"({"RequestItems":{"items":{"Keys":[)" + item_key + "]}}}"},
      {"BatchWriteItem", R"({"RequestItems":{"items":[{"DeleteRequest":{"Key":)" + item_key + "}}]}}"},
      {"TransactGetItems", R"({"TransactItems":[{"Get":{)" + on_item + "}}]}"},
      {"TransactWriteItems", R"({"TransactItems":[{"Delete":{)" + on_item + "}}]}"},
      {"ExecuteStatement", R"({"Statement":"SELECT * FROM \"items\" WHERE pk = 'a'"})"},
      {"ExecuteTransaction",
       R"({"TransactStatements":[{"Statement":"DELETE FROM \"items\" WHERE pk = 'a' AND sk = '1'"}]})"},
      {"BatchExecuteStatement",
       R"({"Statements":[{"Statement":"DELETE FROM \"items\" WHERE pk = 'a' AND sk = '1'"}]})"},
      {"DescribeTable", R"({"TableName":"items"})"},
      {"ListTables", "{}"},
      {"CreateTable", R"({"TableName":"created","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],)"
                      R"("KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"})"},
      {"UpdateTable", R"({"TableName":"items","DeletionProtectionEnabled":true})"},
      {"DeleteTable", R"({"TableName":"items"})"},
      {"DescribeTimeToLive", R"({"TableName":"items"})"},
      {"UpdateTimeToLive", R"({"TableName":"items","TimeToLiveSpecification":{"AttributeName":"ttl","Enabled":true}})"},
      {"DescribeContinuousBackups", R"({"TableName":"items"})"},
      {"UpdateContinuousBackups",
       R"({"TableName":"items","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}})"},
      {"RestoreTableToPointInTime",
       R"({"SourceTableName":"items","TargetTableName":"restored","UseLatestRestorableTime":true})"},
      {"CreateBackup", R"({"TableName":"items","BackupName":"nightly"})"},
      {"DescribeBackup", R"({"BackupArn":")" + arn + R"(/backup/01767323045000-00000000"})"},
      {"ListBackups", "{}"},
      {"DeleteBackup", R"({"BackupArn":")" + arn + R"(/backup/01767323045000-00000000"})"},
      {"RestoreTableFromBackup",
       R"({"TargetTableName":"restored","BackupArn":")" + arn + R"(/backup/01767323045000-00000000"})"},
      {"ExportTableToPointInTime", R"({"TableArn":")" + arn + R"(","S3Bucket":"lake"})"},
      {"DescribeExport", R"({"ExportArn":")" + arn + R"(/export/01767323045000000-00000000"})"},
      {"ListExports", "{}"},
      {"ImportTable",
       R"({"S3BucketSource":{"S3Bucket":"lake"},"InputFormat":"CSV","TableCreationParameters":{"TableName":"imported",)"
       R"("AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST",)"
       R"("KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}})"},
      {"DescribeImport", R"({"ImportArn":")" + arn + R"(/import/01767323045000000-00000000"})"},
      {"ListImports", "{}"},
      {"TagResource", R"({"ResourceArn":")" + arn + R"(","Tags":[{"Key":"a","Value":"b"}]})"},
      {"UntagResource", R"({"ResourceArn":")" + arn + R"(","TagKeys":["a"]})"},
      {"ListTagsOfResource", R"({"ResourceArn":")" + arn + "\"}"},
      {"PutResourcePolicy",
       R"({"ResourceArn":")" + arn +
           R"(","Policy":"{\"Version\":\"2012-10-17\",\"Statement\":)"
           R"([{\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"*\",\"Resource\":\"*\"}]}"})"},
      {"GetResourcePolicy", R"({"ResourceArn":")" + arn + "\"}"},
      {"DeleteResourcePolicy", R"({"ResourceArn":")" + arn + "\"}"},
      {"UpdateContributorInsights", R"({"TableName":"items","ContributorInsightsAction":"ENABLE"})"},
      {"DescribeContributorInsights", R"({"TableName":"items"})"},
      {"ListContributorInsights", "{}"},
      {"DescribeKinesisStreamingDestination", R"({"TableName":"items"})"},
      {"EnableKinesisStreamingDestination",
       R"({"TableName":"items","StreamArn":"arn:aws:kinesis:us-east-1:000000000000:stream/s"})"},
      {"DisableKinesisStreamingDestination",
       R"({"TableName":"items","StreamArn":"arn:aws:kinesis:us-east-1:000000000000:stream/s"})"},
      {"UpdateKinesisStreamingDestination",
       R"({"TableName":"items","StreamArn":"arn:aws:kinesis:us-east-1:000000000000:stream/s"})"},
      {"DescribeTableReplicaAutoScaling", R"({"TableName":"items"})"},
      {"UpdateTableReplicaAutoScaling", R"({"TableName":"items"})"},
      {"ListGlobalTables", "{}"},
      {"DescribeGlobalTable", R"({"GlobalTableName":"items"})"},
      {"CreateGlobalTable", R"({"GlobalTableName":"items","ReplicationGroup":[{"RegionName":"us-east-1"}]})"},
      {"UpdateGlobalTable", R"({"GlobalTableName":"items","ReplicaUpdates":[]})"},
      {"DescribeGlobalTableSettings", R"({"GlobalTableName":"items"})"},
      {"UpdateGlobalTableSettings", R"({"GlobalTableName":"items"})"},
      {"DescribeLimits", "{}"},
      {"DescribeEndpoints", "{}"},
      {"GetRecords", R"({"ShardIterator":"AAAA"})"},
      {"GetShardIterator", R"({"StreamArn":")" + stream_arn +
                               R"(","ShardId":"shardId-00000000000000000000-00000000",)"
                               R"("ShardIteratorType":"TRIM_HORIZON"})"},
      {"DescribeStream", R"({"StreamArn":")" + stream_arn + "\"}"},
      {"ListStreams", "{}"},
  };
  return calls;
}

// A new operation fails this test until it is checked and has a call here.
TEST_F(PolicyTest, EveryOperationIsChecked) {
  add_key("nobody", deny_all);
  add_key("elsewhere", allow_other);
  put("a", "1");
  for (std::size_t i = 0; i < operation_count(); ++i) {
    const std::string name(operation_at(i).name);
    const auto call = calls().find(name);
    ASSERT_NE(call, calls().end()) << name;
    expect_denied("nobody", name, call->second);
    expect_denied("elsewhere", name, call->second);
  }
}

// The same calls of a key without policies are right, so that nothing but the policies stood against them.
TEST_F(PolicyTest, AKeyWithoutPoliciesMayDoEverything) {
  add_key("nobody", deny_all);
  put("a", "1");
  for (std::size_t i = 0; i < operation_count(); ++i) {
    const std::string name(operation_at(i).name);
    if (name == "DeleteTable") continue;
    EXPECT_THAT(as("admin", name, calls().at(name)).body, Not(HasSubstr("AccessDenied"))) << name;
  }
}

TEST_F(PolicyTest, DenialsAreInTheWordsOfAws) {
  add_key("reader", statements(R"({"Effect":"Allow","Action":"dynamodb:Query","Resource":"*"},)"
                               R"({"Effect":"Deny","Action":"dynamodb:PutItem","Resource":"*"})"));
  const http::Response response = as("reader", "GetItem", "{" + on_item + "}");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(
      response.body,
      R"({"__type":"com.amazon.coral.service#AccessDeniedException","Message":)"
      R"("User: arn:aws:iam::000000000000:user/reader is not authorized to perform: dynamodb:GetItem on resource: )"
      R"(arn:aws:dynamodb:us-east-1:000000000000:table/items because no identity-based policy allows the )"
      R"(dynamodb:GetItem action"})");
  EXPECT_THAT(as("reader", "PutItem", R"({"TableName":"items","Item":)" + item_key + "}").body,
              HasSubstr("table/items with an explicit deny in an identity-based policy"));
  EXPECT_THAT(as("reader", "ListTables", "{}").body,
              HasSubstr("dynamodb:ListTables on resource: arn:aws:dynamodb:us-east-1:000000000000:table/* because"));
}

// Who may do nothing with a table does not learn whether it is there.
TEST_F(PolicyTest, TablesThatAreNotThereAreToldToThoseWhoMayUseThem) {
  add_key("other", statements(R"({"Effect":"Allow","Action":"dynamodb:*","Resource":"arn:aws:dynamodb:*:*:table/mine",)"
                              R"("Condition":{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":"a"}}})"));
  const auto get = [&](const std::string& table) {
    return as("other", "GetItem", R"({"TableName":")" + table + R"(","Key":)" + item_key + "}").body;
  };
  EXPECT_THAT(get("mine"), HasSubstr("ResourceNotFoundException"));
  EXPECT_THAT(get("nowhere"), HasSubstr("AccessDenied"));
  EXPECT_THAT(get("items"), HasSubstr("AccessDenied"));
  const auto select = [&](const std::string& table) {
    return as("other", "ExecuteStatement", R"({"Statement":"SELECT * FROM \")" + table + R"(\" WHERE pk = 'a'"})").body;
  };
  EXPECT_THAT(select("mine"), HasSubstr("ResourceNotFoundException"));
  EXPECT_THAT(select("nowhere"), HasSubstr("AccessDenied"));
  EXPECT_THAT(select("items"), HasSubstr("AccessDenied"));
}

// A customer with the tag 17 owns the partitions 17 of the table.
class CustomerTest : public PolicyTest {
 protected:
  CustomerTest() {
    add_key("customer",
            statements(R"({"Effect":"Allow","Action":["dynamodb:GetItem","dynamodb:BatchGetItem","dynamodb:Query",)"
                       R"("dynamodb:PutItem","dynamodb:UpdateItem","dynamodb:DeleteItem","dynamodb:BatchWriteItem",)"
                       R"("dynamodb:ConditionCheckItem","dynamodb:PartiQL*"],)"
                       R"("Resource":"arn:aws:dynamodb:*:*:table/items","Condition":{)"
                       R"("ForAllValues:StringEquals":{"dynamodb:LeadingKeys":"${aws:PrincipalTag/customer}"},)"
                       R"("BoolIfExists":{"dynamodb:FullTableScan":"false"}}})"),
            "17");
    put("17", "1");
    put("17", "2");
    put("18", "1");
  }
  static std::string key(const std::string& pk, const std::string& sk = "1") {
    return R"({"pk":{"S":")" + pk + R"("},"sk":{"S":")" + sk + R"("}})";
  }
  static std::string on(const std::string& pk) { return R"("TableName":"items","Key":)" + key(pk); }
  static std::string quoted(const std::string& statement) { return R"({"Statement":")" + statement + "\"}"; }
};

const std::string set = R"(,"UpdateExpression":"SET x = :x","ExpressionAttributeValues":{":x":{"S":"1"}})";
const std::string exists = R"-(,"ConditionExpression":"attribute_exists(pk)")-";

TEST_F(CustomerTest, SingleItemsAreThoseOfItsPartition) {
  for (const std::string pk : {"17", "18"}) {
    const auto expect = [&](const std::string& operation, const std::string& body) {
      if (pk == "17")
        expect_allowed("customer", operation, body);
      else
        expect_denied("customer", operation, body);
    };
    expect("GetItem", "{" + on(pk) + "}");
    expect("PutItem", R"({"TableName":"items","Item":)" + key(pk) + "}");
    expect("UpdateItem", "{" + on(pk) + set + "}");
    expect("UpdateItem", "{" + on(pk) + R"(,"ReturnValues":"ALL_NEW"})");
    expect("DeleteItem", "{" + on(pk) + R"(,"ReturnValues":"ALL_OLD"})");
    expect("Query", R"({"TableName":"items","KeyConditionExpression":"pk = :p AND sk > :s",)"
                    R"("ExpressionAttributeValues":{":p":{"S":")" +
                        pk + R"("},":s":{"S":"0"}}})");
    expect("Query", R"({"TableName":"items","KeyConditionExpression":"sk = :s AND pk = :p",)"
                    R"("ExpressionAttributeValues":{":p":{"S":")" +
                        pk + R"("},":s":{"S":"17"}}})");
    expect("Query", R"({"TableName":"items","KeyConditions":{"pk":{"ComparisonOperator":"EQ",)"
                    R"("AttributeValueList":[{"S":")" +
                        pk + R"("}]}}})");
  }
  expect_denied("customer", "Scan", R"({"TableName":"items"})");
}

TEST_F(CustomerTest, BatchesHaveNoForeignItems) {
  const auto get = [](const std::string& pk) {
    return R"({"RequestItems":{"items":{"Keys":[)" + key("17") + "," + key(pk, "2") + "]}}}";
  };
  expect_allowed("customer", "BatchGetItem", get("17"));
  expect_denied("customer", "BatchGetItem", get("18"));
  const auto write = [](const std::string& put, const std::string& remove) {
    return R"({"RequestItems":{"items":[{"PutRequest":{"Item":)" + key(put, "7") + R"(}},{"DeleteRequest":{"Key":)" +
           key(remove) + "}}]}}";
  };
  expect_allowed("customer", "BatchWriteItem", write("17", "17"));
  expect_denied("customer", "BatchWriteItem", write("18", "17"));
  expect_denied("customer", "BatchWriteItem", write("17", "18"));
}

TEST_F(CustomerTest, TransactionsHaveNoForeignItems) {
  const auto own = R"({"Put":{"TableName":"items","Item":)" + key("17", "9") + "}}";
  for (const std::string pk : {"17", "18"}) {
    for (const std::string& action :
         {R"({"Put":{"TableName":"items","Item":)" + key(pk) + "}}", R"({"Update":{)" + on(pk) + set + "}}",
          R"({"Delete":{)" + on(pk) + "}}", R"({"ConditionCheck":{)" + on(pk) + exists + "}}"}) {
      if (pk == "17") put("17", "1");
      const std::string body = R"({"TransactItems":[)" + own + "," + action + "]}";
      if (pk == "17")
        expect_allowed("customer", "TransactWriteItems", body);
      else
        expect_denied("customer", "TransactWriteItems", body);
    }
    const std::string gets =
        R"({"TransactItems":[{"Get":{)" + on("17") + R"(}},{"Get":{"TableName":"items","Key":)" + key(pk, "2") + "}}]}";
    if (pk == "17")
      expect_allowed("customer", "TransactGetItems", gets);
    else
      expect_denied("customer", "TransactGetItems", gets);
  }
}

TEST_F(CustomerTest, StatementsHaveNoForeignItems) {
  const auto select = [](const std::string& condition) {
    return quoted("SELECT * FROM \\\"items\\\" WHERE " + condition);
  };
  expect_allowed("customer", "ExecuteStatement", select("pk = '17'"));
  expect_allowed("customer", "ExecuteStatement", select("pk = '17' AND sk = '1'"));
  for (const char* condition :
       {"pk = '18'", "pk = '18' AND sk = '1'", "pk IN ['17', '18']", "pk = '17' OR pk = '18'", "sk = '1'", "pk > '1'",
        "pk = '17' OR sk = '1'", "NOT pk = '17'", "pk IN ['18']", "veiled = '17'"})
    expect_denied("customer", "ExecuteStatement", select(condition));
  expect_denied("customer", "ExecuteStatement", quoted("SELECT * FROM \\\"items\\\""));
  for (const std::string pk : {"17", "18"}) {
    const std::string where = " WHERE pk = '" + pk + "' AND sk = '5'";
    for (const std::string& statement :
         {"INSERT INTO \\\"items\\\" VALUE {'pk': '" + pk + "', 'sk': '5'}",
          "UPDATE \\\"items\\\" SET x = 1" + where + " RETURNING ALL NEW *", "DELETE FROM \\\"items\\\"" + where}) {
      if (pk == "17")
        expect_allowed("customer", "ExecuteStatement", quoted(statement));
      else
        expect_denied("customer", "ExecuteStatement", quoted(statement));
    }
  }
  expect_denied("customer", "ExecuteStatement",
                R"({"Statement":"SELECT * FROM \"items\" WHERE pk = ?","Parameters":[{"S":"18"}]})");
}

TEST_F(CustomerTest, BatchesAndTransactionsOfStatementsHaveNoForeignItems) {
  const auto get = [](const std::string& pk) {
    return quoted("SELECT * FROM \\\"items\\\" WHERE pk = '" + pk + "' AND sk = '1'");
  };
  const auto insert = [](const std::string& pk) {
    return quoted("INSERT INTO \\\"items\\\" VALUE {'pk': '" + pk + "', 'sk': '6'}");
  };
  expect_allowed("customer", "ExecuteTransaction", R"({"TransactStatements":[)" + get("17") + "]}");
  expect_denied("customer", "ExecuteTransaction", R"({"TransactStatements":[)" + get("17") + "," + get("18") + "]}");
  expect_denied("customer", "ExecuteTransaction",
                R"({"TransactStatements":[)" + insert("17") + "," + insert("18") + "]}");
  const std::string check =
      quoted("EXISTS(SELECT * FROM \\\"items\\\" WHERE pk = '18' AND sk = '1' AND seen = 'shown')");
  expect_denied("customer", "ExecuteTransaction", R"({"TransactStatements":[)" + insert("17") + "," + check + "]}");
  // Statements of a batch are refused alone.
  const std::string read =
      as("customer", "BatchExecuteStatement", R"({"Statements":[)" + get("18") + "," + get("17") + "]}").body;
  EXPECT_THAT(read, AllOf(HasSubstr(R"("Code":"AccessDenied")"), HasSubstr(R"("pk":{"S":"17"})"),
                          Not(HasSubstr(R"("pk":{"S":"18"})"))));
  expect_denied("customer", "BatchExecuteStatement", R"({"Statements":[)" + insert("18") + "]}");
  expect_allowed("customer", "ExecuteTransaction", R"({"TransactStatements":[)" + insert("17") + "]}");
}

// AWS's policy for veiled attributes: only those named, no whole items, and no old ones.
class HiddenAttributeTest : public PolicyTest {
 protected:
  HiddenAttributeTest() {
    add_key("viewer",
            statements(R"({"Effect":"Allow","Action":["dynamodb:*"],"Resource":"arn:aws:dynamodb:*:*:table/items",)"
                       R"("Condition":{"ForAllValues:StringEquals":{"dynamodb:Attributes":["pk","sk","seen","note"]},)"
                       R"("StringEqualsIfExists":{"dynamodb:Select":"SPECIFIC_ATTRIBUTES",)"
                       R"("dynamodb:ReturnValues":["NONE","UPDATED_OLD","UPDATED_NEW"]}}})"));
    put("a", "1");
  }
};

const std::string query_a = R"("TableName":"items","KeyConditionExpression":"pk = :p")";
const std::string value_a = R"(,"ExpressionAttributeValues":{":p":{"S":"a"}})";

TEST_F(HiddenAttributeTest, WhatIsOpenIsRead) {
  expect_allowed("viewer", "GetItem", "{" + on_item + R"(,"ProjectionExpression":"pk, seen"})");
  expect_allowed("viewer", "GetItem", "{" + on_item + R"(,"AttributesToGet":["seen"]})");
  expect_allowed("viewer", "Query", "{" + query_a + value_a + R"(,"ProjectionExpression":"seen"})");
  expect_allowed("viewer", "Scan", R"({"TableName":"items","ProjectionExpression":"seen"})");
  expect_allowed("viewer", "UpdateItem",
                 "{" + on_item + R"(,"UpdateExpression":"SET note = seen","ReturnValues":"UPDATED_NEW"})");
  expect_allowed("viewer", "ExecuteStatement", R"({"Statement":"SELECT seen FROM \"items\" WHERE pk = 'a'"})");
  expect_allowed("viewer", "PutItem", R"({"TableName":"items","Item":{"pk":{"S":"b"},"sk":{"S":"1"}}})");
}

TEST_F(HiddenAttributeTest, WhatIsHiddenIsNotRead) {
  const std::string name = R"(,"ExpressionAttributeNames":{"#h":"veiled"})";
  const std::string names = R"(,"ExpressionAttributeNames":{"#h":"veiled"},"ExpressionAttributeValues":)";
  expect_denied("viewer", "GetItem", "{" + on_item + "}");
  expect_denied("viewer", "GetItem", "{" + on_item + R"(,"ProjectionExpression":"seen, veiled"})");
  expect_denied("viewer", "GetItem", "{" + on_item + R"(,"ProjectionExpression":"#h")" + name + "}");
  expect_denied("viewer", "GetItem", "{" + on_item + R"(,"ProjectionExpression":"veiled.part[0]"})");
  expect_denied("viewer", "GetItem", "{" + on_item + R"(,"AttributesToGet":["veiled"]})");
  expect_denied("viewer", "BatchGetItem", calls().at("BatchGetItem"));
  expect_denied("viewer", "TransactGetItems", calls().at("TransactGetItems"));
  expect_denied("viewer", "Scan", R"({"TableName":"items"})");
  expect_denied("viewer", "Scan", R"({"TableName":"items","Select":"ALL_ATTRIBUTES"})");
  expect_denied("viewer", "Scan", R"({"TableName":"items","Select":"COUNT"})");
  // Filters and conditions tell by what they let through.
  expect_denied("viewer", "Scan",
                R"({"TableName":"items","ProjectionExpression":"pk",)"
                R"-("FilterExpression":"begins_with(#h, :h)")-" +
                    names + R"({":h":{"S":"s"}}})");
  expect_denied("viewer", "Scan",
                R"({"TableName":"items","AttributesToGet":["pk"],"ScanFilter":{"veiled":)"
                R"({"ComparisonOperator":"NOT_NULL"}}})");
  expect_denied("viewer", "Query",
                "{" + query_a +
                    R"(,"ProjectionExpression":"pk","FilterExpression":"size(veiled) > :n",)"
                    R"("ExpressionAttributeValues":{":p":{"S":"a"},":n":{"N":"1"}}})");
  expect_denied("viewer", "DeleteItem", "{" + on_item + R"(,"ConditionExpression":"veiled = :p")" + value_a + "}");
  expect_denied("viewer", "DeleteItem", "{" + on_item + R"(,"Expected":{"veiled":{"Exists":false}}})");
  expect_denied("viewer", "DeleteItem", "{" + on_item + R"(,"ReturnValues":"ALL_OLD"})");
  expect_denied(
      "viewer", "DeleteItem",
      "{" + on_item +
          R"-(,"ConditionExpression":"attribute_not_exists(pk)","ReturnValuesOnConditionCheckFailure":"ALL_OLD"})-");
  // Updates copy.
  expect_denied("viewer", "UpdateItem", "{" + on_item + R"(,"UpdateExpression":"SET note = #h")" + name + "}");
  expect_denied("viewer", "UpdateItem",
                "{" + on_item + R"-(,"UpdateExpression":"SET note = if_not_exists(veiled, pk)"})-");
  expect_denied("viewer", "UpdateItem", "{" + on_item + R"(,"UpdateExpression":"REMOVE veiled"})");
  expect_denied("viewer", "UpdateItem",
                "{" + on_item + R"(,"UpdateExpression":"SET note = seen","ReturnValues":"ALL_NEW"})");
  expect_denied("viewer", "UpdateItem",
                "{" + on_item + R"(,"AttributeUpdates":{"veiled":{"Action":"PUT","Value":{"S":"x"}}}})");
  expect_denied("viewer", "PutItem",
                R"({"TableName":"items","Item":{"pk":{"S":"a"},"sk":{"S":"1"},"veiled":{"S":""}}})");
}

TEST_F(HiddenAttributeTest, StatementsDoNotReadWhatIsHidden) {
  for (const char* statement :
       {"SELECT * FROM \\\"items\\\" WHERE pk = 'a'", "SELECT veiled FROM \\\"items\\\" WHERE pk = 'a'",
        "SELECT pk FROM \\\"items\\\" WHERE pk = 'a' AND veiled = 'x'",
        "SELECT pk FROM \\\"items\\\" WHERE begins_with(veiled, 's')",
        "UPDATE \\\"items\\\" SET note = veiled WHERE pk = 'a' AND sk = '1'",
        "UPDATE \\\"items\\\" SET note = 'x' WHERE pk = 'a' AND sk = '1' AND veiled = 'x'",
        "UPDATE \\\"items\\\" SET note = 'x' WHERE pk = 'a' AND sk = '1' RETURNING ALL NEW *",
        "DELETE FROM \\\"items\\\" WHERE pk = 'a' AND sk = '1' RETURNING ALL OLD *",
        "INSERT INTO \\\"items\\\" VALUE {'pk': 'b', 'sk': '1', 'veiled': 'x'}"})
    expect_denied("viewer", "ExecuteStatement", R"({"Statement":")" + std::string(statement) + "\"}");
}

// A customer reads the index by the partition that the index has, and the table not at all.
TEST_F(PolicyTest, AnIndexIsAResourceOfItsOwn) {
  create_table_with_index();
  add_key("customer",
          statements(R"({"Effect":"Allow","Action":["dynamodb:Query","dynamodb:PartiQLSelect"],)"
                     R"("Resource":"arn:aws:dynamodb:*:*:table/orders/index/by-holder","Condition":)"
                     R"({"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":"OWNER#${aws:PrincipalTag/customer}"},)"
                     R"("Null":{"dynamodb:LeadingKeys":"false"}}})"),
          "17");
  const auto query = [](const std::string& index, const std::string& attribute, const std::string& value) {
    return R"({"TableName":"orders")" + index + R"(,"KeyConditionExpression":")" + attribute +
           R"( = :v","ExpressionAttributeValues":{":v":{"S":")" + value + R"("}}})";
  };
  const std::string by_owner = R"(,"IndexName":"by-holder")";
  expect_allowed("customer", "Query", query(by_owner, "holder", "OWNER#17"));
  expect_denied("customer", "Query", query(by_owner, "holder", "OWNER#18"));
  expect_denied("customer", "Query", query("", "pk", "OWNER#17"));
  expect_denied("customer", "Query", query(R"(,"IndexName":"by-pk")", "pk", "OWNER#17"));
  expect_denied("customer", "Scan", R"({"TableName":"orders","IndexName":"by-holder"})");
  const auto select = [](const std::string& rest) {
    return R"({"Statement":"SELECT * FROM \"orders\".\"by-holder\")" + rest + "\"}";
  };
  expect_allowed("customer", "ExecuteStatement", select(" WHERE holder = 'OWNER#17'"));
  expect_denied("customer", "ExecuteStatement", select(" WHERE holder = 'OWNER#18'"));
  expect_denied("customer", "ExecuteStatement", select(""));
}

// An iterator can be made up or handed on: what it reads counts.
TEST_F(PolicyTest, RecordsAreThoseOfTheStreamOfTheIterator) {
  const auto stream_of = [&](const std::string& table) {
    answer("UpdateTable", R"({"TableName":")" + table +
                              R"(","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"}})");
    return text_of(answer("DescribeTable", R"({"TableName":")" + table + "\"}"), "LatestStreamArn");
  };
  create_table("others");
  const std::string items = stream_of("items");
  const std::string others = stream_of("others");
  const auto iterator = [&](const std::string& stream) {
    const std::string shard = text_of(answer("DescribeStream", R"({"StreamArn":")" + stream + "\"}"), "ShardId");
    return text_of(answer("GetShardIterator", R"({"StreamArn":")" + stream + R"(","ShardId":")" + shard +
                                                  R"(","ShardIteratorType":"LATEST"})"),
                   "ShardIterator");
  };
  const std::string of_items = R"({"ShardIterator":")" + iterator(items) + "\"}";
  const std::string of_others = R"({"ShardIterator":")" + iterator(others) + "\"}";
  add_key("follower", statements(R"({"Effect":"Allow","Action":"dynamodb:*",)"
                                 R"("Resource":"arn:aws:dynamodb:*:*:table/others/stream/*"})"));
  EXPECT_EQ(as("follower", "GetRecords", of_others).status, 200);
  EXPECT_THAT(as("follower", "GetRecords", of_items).body,
              HasSubstr("dynamodb:GetRecords on resource: " + items + " because"));
}

TEST_F(PolicyTest, ConditionsKnowTheCall) {
  const auto allow_if = [](const std::string& condition) {
    return statements(R"({"Effect":"Allow","Action":"dynamodb:GetItem","Resource":"*","Condition":{)" + condition +
                      "}}");
  };
  const std::string get = "{" + on_item + R"(,"ReturnConsumedCapacity":"TOTAL"})";
  add_key("right", allow_if(R"("StringEquals":{"aws:username":"right","aws:userid":"right","aws:PrincipalType":"User",)"
                            R"("aws:PrincipalAccount":"000000000000","aws:RequestedRegion":"us-east-1",)"
                            R"("dynamodb:Select":"ALL_ATTRIBUTES","dynamodb:ReturnConsumedCapacity":"TOTAL"},)"
                            R"("ArnEquals":{"aws:PrincipalArn":"arn:aws:iam::000000000000:user/right"},)"
                            R"("Bool":{"aws:SecureTransport":"false"},"IpAddress":{"aws:SourceIp":"192.0.2.0/24"},)"
                            R"("DateEquals":{"aws:CurrentTime":"2026-11-18T20:00:00Z"},)"
                            R"("NumericEquals":{"aws:EpochTime":"1795032000"},)"
                            R"("Null":{"aws:UserAgent":"true","dynamodb:EnclosingOperation":"true"})"));
  expect_allowed("right", "GetItem", get);
  add_key("far", allow_if(R"("IpAddress":{"aws:SourceIp":"198.51.100.0/24"})"));
  add_key("open", allow_if(R"("Bool":{"aws:SecureTransport":"true"})"));
  add_key("late", allow_if(R"("DateLessThan":{"aws:CurrentTime":"2026-11-18T20:00:00Z"})"));
  add_key("alone", allow_if(R"("StringEquals":{"dynamodb:EnclosingOperation":"TransactGetItems"})"));
  for (const char* id : {"far", "open", "late", "alone"}) expect_denied(id, "GetItem", get);
  expect_allowed("alone", "TransactGetItems", calls().at("TransactGetItems"));
}

// As at SIGHUP.
TEST_F(PolicyTest, NewPoliciesCountAtOnce) {
  add_key("reader", statements(R"({"Effect":"Allow","Action":"dynamodb:GetItem","Resource":"*"})"));
  const std::string get = "{" + on_item + "}";
  expect_allowed("reader", "GetItem", get);
  endpoint().set_access_keys({{"reader", "reader-secret", policies_of("reader", deny_all)}, {"admin", "admin-secret"}},
                             true);
  expect_denied("reader", "GetItem", get);
}

}  // namespace
}  // namespace postino::wire
