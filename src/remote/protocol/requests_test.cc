// What is sent, letter by letter. That a service understands it is shown in tests/remote.
#include "remote/protocol/requests.h"

#include <gtest/gtest.h>

namespace postino::remote {
namespace {

TEST(RequestBody, OfAnItem) {
  store::UpdateItemRequest request;
  request.table_name = "mails";
  request.key = {{"pk", "a"}};
  request.update = "SET #x = :x";
  request.condition = "x < y";
  request.placeholders = {expr::Names{{"#x", "x"}}, item::Map{{":x", 1}}};
  request.return_values = store::ReturnValues::all_new;
  request.return_item_on_failure = true;
  EXPECT_EQ(encode(request), R"({"TableName":"mails","Key":{"pk":{"S":"a"}},"UpdateExpression":"SET #x = :x",)"
                             R"("ConditionExpression":"x < y","ExpressionAttributeNames":{"#x":"x"},)"
                             R"("ExpressionAttributeValues":{":x":{"N":"1"}},"ReturnValues":"ALL_NEW",)"
                             R"("ReturnValuesOnConditionCheckFailure":"ALL_OLD","ReturnConsumedCapacity":"INDEXES"})");
}

TEST(RequestBody, HasOnlyWhatWasAskedFor) {
  store::PutItemRequest put;
  put.table_name = "mails";
  put.item = {{"pk", "a"}};
  EXPECT_EQ(encode(put), R"({"TableName":"mails","Item":{"pk":{"S":"a"}},"ReturnConsumedCapacity":"INDEXES"})");
  store::QueryRequest query;
  query.table_name = "mails";
  query.key_condition = "pk = :a";
  query.forward = false;
  query.limit = 3;
  EXPECT_EQ(encode(query), R"({"TableName":"mails","Limit":3,"ReturnConsumedCapacity":"INDEXES",)"
                           R"("KeyConditionExpression":"pk = :a","ScanIndexForward":false})");
  EXPECT_EQ(encode(store::ListTablesRequest()), "{}");
}

TEST(RequestBody, OfARestore) {
  store::RestoreToPointInTimeRequest request;
  request.source_table_name = "mails";
  request.target_table_name = "copy";
  request.time = base::from_epoch_milliseconds(1'767'323'045'678);
  request.overrides.billing_mode = store::BillingMode::provisioned;
  request.overrides.global_indexes.emplace();
  request.overrides.throughput = store::Throughput{1, 2};
  request.overrides.encryption = store::EncryptionSpecification{true, "KMS", "key"};
  EXPECT_EQ(encode(request), R"({"SourceTableName":"mails","TargetTableName":"copy","RestoreDateTime":1767323045,)"
                             R"("BillingModeOverride":"PROVISIONED","GlobalSecondaryIndexOverride":[],)"
                             R"("ProvisionedThroughputOverride":{"ReadCapacityUnits":1,"WriteCapacityUnits":2},)"
                             R"("SSESpecificationOverride":{"Enabled":true,"SSEType":"KMS","KMSMasterKeyId":"key"}})");
  request = {};
  request.source_table_arn = "arn";
  request.target_table_name = "copy";
  request.use_latest_time = true;
  request.overrides.on_demand = store::OnDemandThroughput{3, std::nullopt};
  EXPECT_EQ(encode(request), R"({"SourceTableArn":"arn","TargetTableName":"copy","UseLatestRestorableTime":true,)"
                             R"("OnDemandThroughputOverride":{"MaxReadRequestUnits":3}})");
}

TEST(RequestBody, OfATransaction) {
  store::TransactWriteItemsRequest request;
  store::TransactUpdate update;
  update.table_name = "mails";
  update.key = {{"pk", "a"}};
  update.update = "REMOVE x";
  store::TransactConditionCheck check;
  check.table_name = "mails";
  check.key = {{"pk", "b"}};
  check.condition = "x < y";
  request.actions = {update, check};
  request.client_request_token = "token";
  EXPECT_EQ(
      encode(request),
      R"({"TransactItems":[{"Update":{"Key":{"pk":{"S":"a"}},"UpdateExpression":"REMOVE x","TableName":"mails"}},)"
      R"({"ConditionCheck":{"Key":{"pk":{"S":"b"}},"TableName":"mails","ConditionExpression":"x < y"}}],)"
      R"("ClientRequestToken":"token","ReturnConsumedCapacity":"INDEXES"})");
}

}  // namespace
}  // namespace postino::remote
