#include "engine/catalog/core_testing.h"
#include "engine/catalog/item_keys.h"
#include "engine/storage/keys.h"
#include "engine/tables/table_operations.h"

namespace postino::engine {
namespace {

using store::BillingMode;
using store::CreateTableRequest;
using store::ErrorType;
using store::IndexStatus;
using store::KeyRole;
using store::TableStatus;
using store::Throughput;
using store::UpdateTableRequest;

class TableUpdateTest : public CoreTest {
 protected:
  TableOperations tables() { return TableOperations(core()); }
  void create(const CreateTableRequest& request) { ASSERT_TRUE(tables().create(request)); }
  store::TableDescription describe() { return tables().describe("orders").value(); }
  store::TableDescription update(const UpdateTableRequest& request) { return tables().update(request).value(); }
  store::Error refusal(const UpdateTableRequest& request) { return tables().update(request).error(); }
};

UpdateTableRequest change() {
  UpdateTableRequest request;
  request.table_name = "orders";
  return request;
}

UpdateTableRequest provision(Throughput throughput) {
  UpdateTableRequest request = change();
  request.throughput = throughput;
  return request;
}

UpdateTableRequest create_index(store::GlobalIndexDefinition index, std::vector<std::string> definitions) {
  UpdateTableRequest request = change();
  request.global_index_updates = {store::CreateGlobalIndex{std::move(index)}};
  for (std::string& name : definitions) request.attribute_definitions.push_back({std::move(name), item::Type::string});
  return request;
}

UpdateTableRequest delete_index(std::string name) {
  UpdateTableRequest request = change();
  request.global_index_updates = {store::DeleteGlobalIndex{std::move(name)}};
  return request;
}

UpdateTableRequest provision_index(std::string name, Throughput throughput) {
  UpdateTableRequest request = change();
  request.global_index_updates = {store::UpdateGlobalIndex{std::move(name), throughput, {}, {}}};
  return request;
}

// Keys pk and sk, a local index by-day and a global index by-a.
CreateTableRequest on_demand() {
  CreateTableRequest request = simple_table("orders");
  request.key_schema = {{"pk", KeyRole::hash}, {"sk", KeyRole::range}};
  for (const char* name : {"sk", "day", "a"}) request.attribute_definitions.push_back({name, item::Type::string});
  request.local_indexes = {
      {"by-day", {{"pk", KeyRole::hash}, {"day", KeyRole::range}}, {store::ProjectionType::all, {}}}};
  request.global_indexes = {simple_index("by-a", "a")};
  return request;
}

CreateTableRequest provisioned() {
  CreateTableRequest request = on_demand();
  request.billing_mode = BillingMode::provisioned;
  request.throughput = {5, 5};
  request.global_indexes->front().throughput = {2, 2};
  return request;
}

TEST_F(TableUpdateTest, UnknownTable) {
  const store::Error error = refusal(provision({1, 1}));
  EXPECT_EQ(error.type, ErrorType::resource_not_found);
  EXPECT_EQ(error.message, "Requested resource not found: Table: orders not found");
  // What is wrong with any table is said before the table is looked up.
  EXPECT_EQ(refusal(change()).type, ErrorType::validation);
}

TEST_F(TableUpdateTest, ThroughputChangesShowTheOldValuesFirst) {
  create(provisioned());
  const store::TableDescription answer = update(provision({9, 3}));
  EXPECT_EQ(answer.status, TableStatus::updating);
  EXPECT_EQ(answer.throughput.provisioned, (Throughput{5, 5}));
  EXPECT_EQ(answer.throughput.decreases_today, 0);
  EXPECT_EQ(answer.throughput.last_increase, test_start);
  const store::TableDescription after = describe();
  EXPECT_EQ(after.status, TableStatus::active);
  EXPECT_EQ(after.throughput.provisioned, (Throughput{9, 3}));
  EXPECT_EQ(after.throughput.decreases_today, 1);
  EXPECT_EQ(after.throughput.last_decrease, test_start);
  EXPECT_EQ(after.warm, (Throughput{9, 5}));
  clock().advance(std::chrono::hours(24));
  EXPECT_EQ(describe().throughput.decreases_today, 0);
}

TEST_F(TableUpdateTest, SameThroughputIsRefusedAndNothingChanges) {
  create(provisioned());
  EXPECT_TRUE(
      refusal(provision({5, 5})).message.starts_with("The provisioned throughput for the table will not change."));
  UpdateTableRequest resend = provision({5, 5});
  resend.billing_mode = BillingMode::provisioned;
  EXPECT_TRUE(refusal(resend).message.starts_with("The provisioned throughput for the table will not change."));
  EXPECT_FALSE(describe().throughput.last_increase);
}

TEST_F(TableUpdateTest, TableAndIndexCountTheirDecreasesApart) {
  create(provisioned());
  for (int units = 4; units >= 1; --units) update(provision({units, 5}));
  UpdateTableRequest both = provision({1, 4});
  both.global_index_updates = {store::UpdateGlobalIndex{"by-a", Throughput{1, 2}, {}, {}}};
  EXPECT_EQ(refusal(both).type, ErrorType::limit_exceeded);
  EXPECT_EQ(describe().global_indexes[0].throughput.provisioned, (Throughput{2, 2}));
  const store::TableDescription answer = update(provision_index("by-a", {1, 2}));
  EXPECT_EQ(answer.status, TableStatus::active);
  EXPECT_EQ(answer.global_indexes[0].status, IndexStatus::updating);
  EXPECT_EQ(answer.global_indexes[0].throughput.provisioned, (Throughput{2, 2}));
  const store::IndexDescription index = describe().global_indexes[0];
  EXPECT_EQ(index.status, IndexStatus::active);
  EXPECT_EQ(index.throughput.provisioned, (Throughput{1, 2}));
  EXPECT_EQ(index.throughput.decreases_today, 1);
  EXPECT_EQ(index.warm, (Throughput{2, 2}));
}

TEST_F(TableUpdateTest, SwitchToPayPerRequestAndBack) {
  create(provisioned());
  UpdateTableRequest to_on_demand = change();
  to_on_demand.billing_mode = BillingMode::pay_per_request;
  const store::TableDescription answer = update(to_on_demand);
  EXPECT_EQ(answer.status, TableStatus::updating);
  EXPECT_EQ(answer.billing_mode, BillingMode::provisioned);
  EXPECT_EQ(answer.throughput.provisioned, (Throughput{5, 5}));
  store::TableDescription after = describe();
  EXPECT_EQ(after.billing_mode, BillingMode::pay_per_request);
  EXPECT_EQ(after.last_switch_to_pay_per_request, test_start);
  EXPECT_EQ(after.throughput.provisioned, (Throughput{0, 0}));
  EXPECT_EQ(after.warm, (Throughput{12'000, 4'000}));
  EXPECT_EQ(after.global_indexes[0].throughput.provisioned, (Throughput{0, 0}));
  EXPECT_EQ(after.global_indexes[0].warm, (Throughput{12'000, 4'000}));

  UpdateTableRequest back = provision({50, 50});
  back.billing_mode = BillingMode::provisioned;
  EXPECT_EQ(refusal(back).message, invalid_values + "ProvisionedThroughput must be specified for index: by-a");
  back.global_index_updates = {store::UpdateGlobalIndex{"by-a", Throughput{7, 7}, {}, {}}};
  update(back);
  after = describe();
  EXPECT_EQ(after.billing_mode, BillingMode::provisioned);
  EXPECT_EQ(after.last_switch_to_pay_per_request, test_start);
  EXPECT_EQ(after.throughput.provisioned, (Throughput{50, 50}));
  EXPECT_EQ(after.global_indexes[0].throughput.provisioned, (Throughput{7, 7}));
  EXPECT_EQ(after.warm, (Throughput{12'000, 4'000}));
}

TEST_F(TableUpdateTest, ResentPayPerRequestDoesNothing) {
  create(on_demand());
  clock().advance(std::chrono::hours(1));
  UpdateTableRequest resend = change();
  resend.billing_mode = BillingMode::pay_per_request;
  EXPECT_EQ(update(resend).status, TableStatus::updating);
  EXPECT_EQ(describe().last_switch_to_pay_per_request, test_start);
}

TEST_F(TableUpdateTest, OnDemandTablesHaveNoProvisionedThroughput) {
  create(on_demand());
  EXPECT_EQ(refusal(provision({1, 1})).message,
            invalid_values +
                "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
                "PAY_PER_REQUEST");
  EXPECT_EQ(refusal(provision_index("by-a", {1, 1})).message,
            invalid_values +
                "The only Updates for index: by-a when TableThroughputMode is PAY_PER_REQUEST can be to "
                "OnDemandThroughput, WarmThroughput");
}

TEST_F(TableUpdateTest, CeilingsChangeAtOnceAndGoWithTheBillingMode) {
  create(on_demand());
  UpdateTableRequest request = change();
  request.on_demand = {10, 20};
  const store::TableDescription answer = update(request);
  EXPECT_EQ(answer.status, TableStatus::active);
  EXPECT_EQ(answer.on_demand, (store::OnDemandThroughput{10, 20}));
  request.on_demand = {-1, {}};
  update(request);
  EXPECT_EQ(describe().on_demand, (store::OnDemandThroughput{{}, 20}));
  for (const std::int64_t wrong : {0, -2}) {
    request.on_demand = {wrong, {}};
    EXPECT_EQ(
        refusal(request).message,
        invalid_values + "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range");
  }
  UpdateTableRequest provisioning = provision({1, 1});
  provisioning.billing_mode = BillingMode::provisioned;
  provisioning.global_index_updates = {store::UpdateGlobalIndex{"by-a", Throughput{1, 1}, {}, {}}};
  update(provisioning);
  EXPECT_FALSE(describe().on_demand);
  request.on_demand = {10, {}};
  EXPECT_EQ(refusal(request).message,
            invalid_values +
                "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table BillingMode is "
                "PROVISIONED");
}

TEST_F(TableUpdateTest, WarmThroughputOnlyGrows) {
  create(on_demand());
  UpdateTableRequest request = change();
  request.warm = {13'000, 0};
  EXPECT_EQ(update(request).warm, (Throughput{12'000, 4'000}));
  EXPECT_EQ(describe().warm, (Throughput{13'000, 4'000}));
  request.warm = {12'999, 0};
  EXPECT_EQ(refusal(request).message,
            invalid_values +
                "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than current WarmThroughput, "
                "decreasing WarmThroughput is not supported");
  UpdateTableRequest of_index = change();
  of_index.global_index_updates = {store::UpdateGlobalIndex{"by-a", {}, {}, Throughput{100, 100}}};
  EXPECT_EQ(refusal(of_index).message,
            invalid_values +
                "Requested ReadUnitsPerSecond for WarmThroughput for index by-a is lower than current WarmThroughput, "
                "decreasing WarmThroughput is not supported");
}

TEST_F(TableUpdateTest, DeletionProtectionIsSetAtOnce) {
  create(on_demand());
  UpdateTableRequest request = change();
  request.deletion_protection = true;
  const store::TableDescription answer = update(request);
  EXPECT_EQ(answer.status, TableStatus::active);
  EXPECT_TRUE(answer.deletion_protection);
  EXPECT_FALSE(tables().remove("orders"));
  request.deletion_protection = false;
  update(request);
  EXPECT_TRUE(tables().remove("orders"));
}

TEST_F(TableUpdateTest, TableClass) {
  create(on_demand());
  UpdateTableRequest request = change();
  request.table_class = store::TableClass::standard;
  update(request);
  EXPECT_FALSE(describe().table_class);
  request.table_class = store::TableClass::standard_infrequent_access;
  EXPECT_FALSE(update(request).table_class);
  EXPECT_EQ(describe().table_class, store::TableClass::standard_infrequent_access);
  EXPECT_EQ(describe().table_class_changed, test_start);
}

TEST_F(TableUpdateTest, Encryption) {
  create(on_demand());
  UpdateTableRequest request = change();
  request.encryption = {false, {}, {}};
  EXPECT_EQ(refusal(request).message, invalid_values + "Table is already encrypted by default");
  request.encryption = {true, "KMS", "my-key"};
  update(request);
  EXPECT_EQ(describe().encryption.value().key_id, "arn:aws:kms:us-east-1:000000000000:key/my-key");
  request.encryption->key_id = "arn:aws:kms:us-east-1:000000000000:key/my-key";
  EXPECT_EQ(refusal(request).message,
            invalid_values +
                "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you want to "
                "change Master Key");
  request.encryption = {false, {}, {}};
  update(request);
  EXPECT_FALSE(describe().encryption);
}

TEST_F(TableUpdateTest, StreamsComeAndGo) {
  create(on_demand());
  UpdateTableRequest enable = change();
  enable.stream = {true, store::StreamViewType::new_image};
  UpdateTableRequest disable = change();
  disable.stream = {false, {}};
  EXPECT_EQ(refusal(disable).message, "Table has no stream to disable: TableName: orders");

  const store::TableDescription enabled = update(enable);
  EXPECT_EQ(enabled.status, TableStatus::updating);
  EXPECT_EQ(enabled.stream, store::StreamViewType::new_image);
  EXPECT_EQ(enabled.latest_stream_label, "2026-01-02T03:04:05.678");
  EXPECT_EQ(refusal(enable).message, "Table already has an enabled stream: TableName: orders");
  enable.stream->view_type = store::StreamViewType::keys_only;
  EXPECT_EQ(refusal(enable).message, "Table already has an enabled stream: TableName: orders");

  update(disable);
  EXPECT_FALSE(describe().stream);
  EXPECT_EQ(describe().latest_stream_label, "2026-01-02T03:04:05.678");

  EXPECT_EQ(update(enable).latest_stream_label, "2026-01-02T03:04:05.679");
  reopen();
  const store::TableDescription after = describe();
  EXPECT_EQ(after.stream, store::StreamViewType::keys_only);
  const CatalogStatePointer state = core().catalog->state();
  ASSERT_EQ(state->streams.size(), 2U);
  const Stream& first = *state->streams.begin()->second;
  const Stream& second = *state->streams.rbegin()->second;
  EXPECT_FALSE(first.enabled);
  EXPECT_TRUE(first.shards.back().end);
  EXPECT_TRUE(second.enabled);
  EXPECT_FALSE(second.shards.back().end);
  EXPECT_EQ(second.key_schema, (store::KeySchema{{"pk", KeyRole::hash}, {"sk", KeyRole::range}}));
  EXPECT_EQ(core().catalog->find("orders")->stream->id, second.id);
}

TEST_F(TableUpdateTest, AStreamStartsWithTheNextRecord) {
  CreateTableRequest request = simple_table("orders");
  create(request);
  const auto entry = std::make_shared<CommitEntry>();
  entry->stream_appends.push_back({999, "record"});
  core().queue->enqueue(entry);
  const RecordNumber next = core().queue->next_sequence_number();
  ASSERT_TRUE(core().queue->wait(entry));
  UpdateTableRequest enable = change();
  enable.stream = {true, store::StreamViewType::new_image};
  update(enable);
  EXPECT_EQ(core().catalog->state()->streams.begin()->second->shards[0].first, next);
}

TEST_F(TableUpdateTest, AnIndexOnAnEmptyTableIsReadyAtOnce) {
  create(on_demand());
  const store::TableDescription answer = update(create_index(simple_index("by-b", "b"), {"b", "unused"}));
  EXPECT_EQ(answer.status, TableStatus::updating);
  ASSERT_EQ(answer.global_indexes.size(), 2U);
  EXPECT_EQ(answer.global_indexes[0].status, IndexStatus::active);
  EXPECT_EQ(answer.global_indexes[1].name, "by-b");
  EXPECT_EQ(answer.global_indexes[1].status, IndexStatus::creating);
  EXPECT_EQ(answer.global_indexes[1].backfilling, false);
  const store::TableDescription after = describe();
  EXPECT_EQ(after.status, TableStatus::active);
  EXPECT_EQ(after.global_indexes[1].status, IndexStatus::active);
  EXPECT_FALSE(after.global_indexes[1].backfilling);
  std::vector<std::string> names;
  for (const auto& definition : after.attribute_definitions) names.push_back(definition.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "day", "pk", "sk"}));
  reopen();
  EXPECT_EQ(describe().global_indexes.size(), 2U);
}

TEST_F(TableUpdateTest, AnIndexOnATableWithItemsIsFilledFirst) {
  create(simple_table("orders"));
  put_plain_item("orders", "one");
  int woken = 0;
  core().wake_maintenance = [&] { ++woken; };
  update(create_index(simple_index("by-b", "b"), {"b"}));
  EXPECT_EQ(woken, 1);
  const store::TableDescription after = describe();
  EXPECT_EQ(after.status, TableStatus::active);
  ASSERT_EQ(after.global_indexes.size(), 1U);
  EXPECT_EQ(after.global_indexes[0].status, IndexStatus::creating);
  EXPECT_EQ(after.global_indexes[0].backfilling, true);
  EXPECT_EQ(core().catalog->find("orders")->indexes[0].backfill.value().cursor, "");
  reopen();
  EXPECT_EQ(describe().global_indexes[0].backfilling, true);
}

TEST_F(TableUpdateTest, ItemsOnTheirWayToDiskCountAsItems) {
  create(simple_table("orders"));
  const TablePointer table = core().catalog->find("orders");
  const std::string key = item_key(*table, {{"pk", "one"}});
  {
    const KeyLocks::Guard guard = core().locks.lock({KeyLocks::stripe_of(key)});
    core().locks.set_pending(key, {store_item({{"pk", "one"}}), 1});
  }
  update(create_index(simple_index("by-b", "b"), {"b"}));
  EXPECT_EQ(describe().global_indexes[0].backfilling, true);
}

TEST_F(TableUpdateTest, OneIndexAtATime) {
  create(simple_table("orders"));
  put_plain_item("orders", "one");
  update(create_index(simple_index("first", "b"), {"b"}));
  const std::string limit =
      "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table";
  const store::Error error = refusal(create_index(simple_index("second", "b"), {"b"}));
  EXPECT_EQ(error.type, ErrorType::limit_exceeded);
  EXPECT_EQ(error.message, limit);
  EXPECT_EQ(tables().remove("orders").error().message,
            "Attempt to change a resource which is still in use: Cannot delete table while indexes are being created, "
            "updated, or deleted.");
  // The index that is being filled may be given up.
  update(delete_index("first"));
  UpdateTableRequest two = create_index(simple_index("second", "b"), {"b"});
  two.global_index_updates.push_back(store::CreateGlobalIndex{simple_index("third", "b")});
  EXPECT_EQ(refusal(two).message, limit);
  EXPECT_TRUE(tables().remove("orders"));
}

TEST_F(TableUpdateTest, IndexDeletionRemovesEntriesAndDefinitions) {
  create(on_demand());
  const Index index = *core().catalog->find("orders")->find_index("by-a");
  const auto entry = std::make_shared<CommitEntry>();
  entry->put(Family::indexes, id_prefix(index.id) + "entry", "");
  entry->statistics.push_back({index.id, index.statistics, 1, 10});
  core().queue->enqueue(entry);
  ASSERT_TRUE(core().queue->wait(entry));

  const store::TableDescription answer = update(delete_index("by-a"));
  EXPECT_EQ(answer.status, TableStatus::updating);
  ASSERT_EQ(answer.global_indexes.size(), 1U);
  EXPECT_EQ(answer.global_indexes[0].status, IndexStatus::deleting);
  EXPECT_EQ(answer.global_indexes[0].item_count, 1);
  const store::TableDescription after = describe();
  EXPECT_TRUE(after.global_indexes.empty());
  EXPECT_EQ(after.local_indexes.size(), 1U);
  EXPECT_EQ(after.attribute_definitions.size(), 3U);
  EXPECT_FALSE(core().database->get(Family::indexes, id_prefix(index.id) + "entry").value());
  reopen();
  EXPECT_TRUE(describe().global_indexes.empty());
}

TEST_F(TableUpdateTest, IndexesThatAreNotThereOrNotGlobal) {
  create(on_demand());
  const store::Error missing = refusal(delete_index("nope"));
  EXPECT_EQ(missing.type, ErrorType::resource_not_found);
  EXPECT_EQ(missing.message, "Requested resource not found: Index nope for table orders");
  EXPECT_EQ(refusal(provision_index("nope", {1, 1})).message,
            "Requested resource not found: Index nope for table orders");
  EXPECT_EQ(refusal(delete_index("by-day")).message,
            "Cannot delete an index that is not a GlobalSecondaryIndex: by-day");
  EXPECT_EQ(refusal(provision_index("by-day", {1, 1})).message,
            "Cannot update an index that is not a GlobalSecondaryIndex: by-day");
  EXPECT_EQ(refusal(create_index(simple_index("by-a", "a"), {"a"})).message,
            "Attempting to create an index which already exists");
}

TEST_F(TableUpdateTest, NewIndexKeysNeedDefinitions) {
  create(on_demand());
  EXPECT_EQ(refusal(create_index(simple_index("by-b", "b"), {})).message,
            invalid_values + "AttributeDefinitions is not specified for index: by-b");
  EXPECT_EQ(refusal(create_index(simple_index("by-b", "b"), {"c"})).message,
            invalid_values +
                "Some index key attributes are not defined in AttributeDefinitions. Keys: [b], AttributeDefinitions: "
                "[a, day, pk, sk]");
  UpdateTableRequest redefined = create_index(simple_index("by-b", "a"), {});
  redefined.attribute_definitions = {{"a", item::Type::number}};
  EXPECT_EQ(refusal(redefined).message,
            "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. "
            "Existing schema: Schema:[SchemaElement: key{a:S:HASH}] New schema: Schema:[SchemaElement: key{a:N:HASH}]");
}

TEST_F(TableUpdateTest, NewIndexesFollowTheSameRules) {
  create(provisioned());
  store::GlobalIndexDefinition index = simple_index("by-b", "b");
  EXPECT_EQ(refusal(create_index(index, {"b"})).message,
            invalid_values + "Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: by-b");
  index.projection.type.reset();
  EXPECT_EQ(refusal(create_index(index, {"b"})).message, invalid_values + "Unknown ProjectionType: null");
  index = simple_index("by-b", "b");
  index.throughput = {1, 1};
  update(create_index(index, {"b"}));
  EXPECT_EQ(describe().global_indexes[1].throughput.provisioned, (Throughput{1, 1}));
}

TEST_F(TableUpdateTest, ProvisionedIndexesOnOnDemandTablesAreRefused) {
  create(on_demand());
  store::GlobalIndexDefinition index = simple_index("by-b", "b");
  index.throughput = {1, 1};
  EXPECT_EQ(refusal(create_index(index, {"b"})).message,
            invalid_values +
                "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: by-b when BillingMode is "
                "PAY_PER_REQUEST");
}

TEST_F(TableUpdateTest, TwentyGlobalIndexes) {
  CreateTableRequest request = simple_table("orders");
  request.global_indexes.emplace();
  for (int i = 0; i < 20; ++i) request.global_indexes->push_back(simple_index("index" + std::to_string(i), "pk"));
  create(request);
  const store::Error error = refusal(create_index(simple_index("one-more", "b"), {"b"}));
  EXPECT_EQ(error.type, ErrorType::limit_exceeded);
  EXPECT_EQ(error.message,
            "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of 20");
}

}  // namespace
}  // namespace postino::engine
