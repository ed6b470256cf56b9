#include "engine/rules/update_table_rules.h"

#include "engine/catalog/core_testing.h"

namespace postino::engine {
namespace {

using store::BillingMode;
using store::UpdateTableRequest;

UpdateTableRequest update() {
  UpdateTableRequest request;
  request.table_name = "orders";
  return request;
}

std::string refusal(const UpdateTableRequest& request) {
  const store::Answer<void> answer = check_update_table(request);
  return answer ? "" : answer.error().message;
}

TEST(UpdateTableRules, SomethingMustChange) {
  EXPECT_EQ(
      refusal(update()),
      "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, "
      "SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, "
      "DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required");
  UpdateTableRequest definitions_only = update();
  definitions_only.attribute_definitions = {{"a", item::Type::string}};
  EXPECT_TRUE(refusal(definitions_only).starts_with("At least one of "));
}

TEST(UpdateTableRules, ShapeComesFirst) {
  UpdateTableRequest request = update();
  request.table_name = "a";
  request.global_index_updates = {store::UpdateGlobalIndex{"a", store::Throughput{1, 0}, {}, {}},
                                  store::DeleteGlobalIndex{"abc;"}};
  EXPECT_EQ(refusal(request),
            "4 validation errors detected: Value 'a' at 'tableName' failed to satisfy constraint: Member must have "
            "length greater than or equal to 3; Value 'a' at 'globalSecondaryIndexUpdates.1.member.update.indexName' "
            "failed to satisfy constraint: Member must have length greater than or equal to 3; Value '0' at "
            "'globalSecondaryIndexUpdates.1.member.update.provisionedThroughput.writeCapacityUnits' failed to satisfy "
            "constraint: Member must have value greater than or equal to 1; Value 'abc;' at "
            "'globalSecondaryIndexUpdates.2.member.delete.indexName' failed to satisfy constraint: Member must satisfy "
            "regular expression pattern: [a-zA-Z0-9_.-]+");
}

TEST(UpdateTableRules, SomeChangesStandAlone) {
  UpdateTableRequest request = update();
  request.deletion_protection = true;
  EXPECT_EQ(refusal(request), "");
  request.stream = {true, store::StreamViewType::new_image};
  EXPECT_EQ(refusal(request),
            invalid_values + "DeletionProtection modification must be the only operation in the request");
  request.table_class = store::TableClass::standard;
  EXPECT_EQ(refusal(request), invalid_values + "TableClass modification must be the only operation in the request");
  request.encryption = {true, {}, {}};
  EXPECT_EQ(refusal(request),
            invalid_values + "Server-Side Encryption modification must be the only operation in the request");
}

TEST(UpdateTableRules, WarmThroughputStandsAlone) {
  UpdateTableRequest request = update();
  request.warm = {13'000, 5'000};
  EXPECT_EQ(refusal(request), "");
  request.billing_mode = BillingMode::pay_per_request;
  EXPECT_EQ(refusal(request), invalid_values + "WarmThroughput must be the only operation in the request");
  request.billing_mode.reset();
  request.global_index_updates = {store::CreateGlobalIndex{simple_index("by-a", "a")}};
  EXPECT_EQ(refusal(request),
            invalid_values + "Create global secondary index cannot be specified when updating WarmThroughput");
}

TEST(UpdateTableRules, CeilingsGoWithTheBillingModeOnly) {
  UpdateTableRequest request = update();
  request.on_demand = {10, 10};
  request.billing_mode = BillingMode::pay_per_request;
  EXPECT_EQ(refusal(request), "");
  request.stream = {true, store::StreamViewType::new_image};
  EXPECT_EQ(refusal(request),
            invalid_values + "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request");
}

TEST(UpdateTableRules, StreamsAndIndexesDoNotGoWithThroughput) {
  UpdateTableRequest request = update();
  request.throughput = {2, 2};
  request.stream = {true, store::StreamViewType::new_image};
  EXPECT_EQ(refusal(request), invalid_values + "You cannot modify stream status while updating table IOPS");
  request.stream.reset();
  request.global_index_updates = {store::DeleteGlobalIndex{"by-a"}};
  EXPECT_EQ(refusal(request), invalid_values + "You cannot create or delete index while updating table IOPS");
  request.throughput.reset();
  request.stream = {true, store::StreamViewType::new_image};
  EXPECT_EQ(refusal(request), invalid_values + "You cannot create or delete index while changing stream status");
}

TEST(UpdateTableRules, ABillingSwitchMayCarryAStreamOrANewIndex) {
  UpdateTableRequest request = update();
  request.billing_mode = BillingMode::pay_per_request;
  request.stream = {true, store::StreamViewType::new_image};
  EXPECT_EQ(refusal(request), "");
  request.stream.reset();
  request.global_index_updates = {store::CreateGlobalIndex{simple_index("by-a", "a")}};
  EXPECT_EQ(refusal(request), "");
}

TEST(UpdateTableRules, ProvisioningNeedsValues) {
  UpdateTableRequest request = update();
  request.billing_mode = BillingMode::provisioned;
  EXPECT_EQ(refusal(request),
            invalid_values + "ProvisionedThroughput must be specified when BillingMode is PROVISIONED");
  request.throughput = {1'000'000'000'001, 1};
  EXPECT_EQ(refusal(request), "Given value 1000000000001 for ReadCapacityUnits is out of bounds");
}

TEST(UpdateTableRules, OneUpdatePerIndex) {
  UpdateTableRequest request = update();
  request.global_index_updates = {store::DeleteGlobalIndex{"abc"}, store::DeleteGlobalIndex{"abc"}};
  EXPECT_EQ(refusal(request),
            invalid_values + "Only one global secondary index update per index is allowed simultaneously. Index: abc");
}

TEST(UpdateTableRules, StreamViewsBelongToEnabledStreams) {
  UpdateTableRequest request = update();
  request.stream = {true, {}};
  EXPECT_EQ(refusal(request), invalid_values + "If stream is being enabled then UpdateViewType is required");
  request.stream = {false, store::StreamViewType::keys_only};
  EXPECT_EQ(refusal(request),
            invalid_values + "If stream is being disabled, then UpdateViewType must not be specified");
}

}  // namespace
}  // namespace postino::engine
