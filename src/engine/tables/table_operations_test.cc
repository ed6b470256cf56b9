#include "engine/tables/table_operations.h"

#include "engine/catalog/core_testing.h"
#include "engine/storage/keys.h"

namespace postino::engine {
namespace {

using store::BillingMode;
using store::CreateTableRequest;
using store::ErrorType;
using store::IndexStatus;
using store::KeyRole;
using store::TableStatus;

class TableOperationsTest : public CoreTest {
 protected:
  TableOperations tables() { return TableOperations(core()); }
  store::TableDescription create(const CreateTableRequest& request) { return tables().create(request).value(); }
  store::TableDescription describe(const std::string& name) { return tables().describe(name).value(); }
  std::size_t records(Family family, ObjectId id) {
    const std::string first = id_prefix(id);
    const std::string end = id_prefix(id + 1);
    const rocksdb::Slice lower(first);
    const rocksdb::Slice upper(end);
    const auto iterator = core().database->iterate(family, lower, upper);
    std::size_t count = 0;
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++count;
    return count;
  }
};

CreateTableRequest provisioned_table(std::string name) {
  CreateTableRequest request = simple_table(std::move(name));
  request.billing_mode.reset();
  request.throughput = {5, 6};
  return request;
}

// A bit of everything.
CreateTableRequest rich_table() {
  CreateTableRequest request = simple_table("mail");
  request.attribute_definitions = {{"status", item::Type::string},
                                   {"pk", item::Type::string},
                                   {"sk", item::Type::number},
                                   {"day", item::Type::binary}};
  request.key_schema = {{"pk", KeyRole::hash}, {"sk", KeyRole::range}};
  request.local_indexes = {
      {"by-day", {{"pk", KeyRole::hash}, {"day", KeyRole::range}}, {store::ProjectionType::keys_only, {}}}};
  request.global_indexes = {simple_index("by-status", "status"), simple_index("another", "day")};
  request.global_indexes->front().projection = {store::ProjectionType::include, std::vector<std::string>{"z", "a"}};
  request.on_demand = {100, {}};
  request.stream = {true, store::StreamViewType::new_and_old_images};
  request.encryption = {true, {}, {}};
  request.table_class = store::TableClass::standard_infrequent_access;
  request.deletion_protection = true;
  request.tags = {{"team", "mail"}};
  return request;
}

TEST_F(TableOperationsTest, CreationIsAnsweredAsUnderWay) {
  CreateTableRequest request = simple_table("abc");
  request.attribute_definitions.push_back({"a", item::Type::string});
  request.global_indexes = {simple_index("by-a", "a")};
  const store::TableDescription description = create(request);
  EXPECT_EQ(description.status, TableStatus::creating);
  EXPECT_EQ(description.name, "abc");
  EXPECT_EQ(description.arn, "arn:aws:dynamodb:us-east-1:000000000000:table/abc");
  EXPECT_EQ(description.id.size(), 36U);
  EXPECT_EQ(description.created, test_start);
  EXPECT_EQ(description.item_count, 0);
  EXPECT_EQ(description.size_bytes, 0);
  EXPECT_FALSE(description.warm);
  EXPECT_FALSE(description.last_switch_to_pay_per_request);
  ASSERT_EQ(description.global_indexes.size(), 1U);
  EXPECT_EQ(description.global_indexes[0].status, IndexStatus::creating);
  EXPECT_FALSE(description.global_indexes[0].backfilling);
  EXPECT_FALSE(description.global_indexes[0].warm);
}

TEST_F(TableOperationsTest, OnDemandTableIsActiveAtOnce) {
  create(simple_table("abc"));
  const store::TableDescription description = describe("abc");
  EXPECT_EQ(description.status, TableStatus::active);
  EXPECT_EQ(description.billing_mode, BillingMode::pay_per_request);
  EXPECT_EQ(description.last_switch_to_pay_per_request, test_start);
  EXPECT_EQ(description.throughput.provisioned, (store::Throughput{0, 0}));
  EXPECT_EQ(description.throughput.decreases_today, 0);
  EXPECT_EQ(description.warm, (store::Throughput{12'000, 4'000}));
  EXPECT_FALSE(description.deletion_protection);
  EXPECT_FALSE(description.table_class);
  EXPECT_FALSE(description.encryption);
  EXPECT_FALSE(description.on_demand);
  EXPECT_FALSE(description.stream);
  EXPECT_FALSE(description.latest_stream_arn);
}

TEST_F(TableOperationsTest, ProvisionedTableIsAsWarmAsProvisioned) {
  create(provisioned_table("abc"));
  const store::TableDescription description = describe("abc");
  EXPECT_EQ(description.billing_mode, BillingMode::provisioned);
  EXPECT_FALSE(description.last_switch_to_pay_per_request);
  EXPECT_EQ(description.throughput.provisioned, (store::Throughput{5, 6}));
  EXPECT_EQ(description.warm, (store::Throughput{5, 6}));
}

TEST_F(TableOperationsTest, EverythingIsDescribed) {
  create(rich_table());
  const store::TableDescription description = describe("mail");
  EXPECT_EQ(description.attribute_definitions,
            (std::vector<store::AttributeDefinition>{{"day", item::Type::binary},
                                                     {"pk", item::Type::string},
                                                     {"sk", item::Type::number},
                                                     {"status", item::Type::string}}));
  EXPECT_EQ(description.key_schema, (store::KeySchema{{"pk", KeyRole::hash}, {"sk", KeyRole::range}}));
  ASSERT_EQ(description.local_indexes.size(), 1U);
  EXPECT_EQ(description.local_indexes[0].name, "by-day");
  EXPECT_EQ(description.local_indexes[0].projection, store::ProjectionType::keys_only);
  EXPECT_FALSE(description.local_indexes[0].warm);
  ASSERT_EQ(description.global_indexes.size(), 2U);
  const store::IndexDescription& index = description.global_indexes[0];
  EXPECT_EQ(index.name, "by-status");
  EXPECT_EQ(index.arn, "arn:aws:dynamodb:us-east-1:000000000000:table/mail/index/by-status");
  EXPECT_EQ(index.status, IndexStatus::active);
  EXPECT_FALSE(index.backfilling);
  EXPECT_EQ(index.non_key_attributes, (std::vector<std::string>{"a", "z"}));
  EXPECT_EQ(index.warm, (store::Throughput{12'000, 4'000}));
  EXPECT_EQ(description.global_indexes[1].name, "another");
  EXPECT_EQ(description.on_demand, (store::OnDemandThroughput{100, {}}));
  EXPECT_EQ(description.stream, store::StreamViewType::new_and_old_images);
  EXPECT_EQ(description.latest_stream_label, "2026-01-02T03:04:05.678");
  EXPECT_EQ(description.latest_stream_arn,
            "arn:aws:dynamodb:us-east-1:000000000000:table/mail/stream/2026-01-02T03:04:05.678");
  EXPECT_EQ(description.table_class, store::TableClass::standard_infrequent_access);
  EXPECT_FALSE(description.table_class_changed);
  EXPECT_EQ(description.encryption.value().type, "KMS");
  EXPECT_TRUE(description.encryption->key_id.value().starts_with("arn:aws:kms:us-east-1:000000000000:key/"));
  EXPECT_TRUE(description.deletion_protection);
}

TEST_F(TableOperationsTest, TablesSurviveReopening) {
  create(rich_table());
  create(provisioned_table("other"));
  const store::TableDescription before = describe("mail");
  reopen();
  const store::TableDescription after = describe("mail");
  EXPECT_EQ(after.id, before.id);
  EXPECT_EQ(after.created, before.created);
  EXPECT_EQ(after.attribute_definitions, before.attribute_definitions);
  EXPECT_EQ(after.global_indexes.size(), 2U);
  EXPECT_EQ(after.local_indexes.size(), 1U);
  EXPECT_EQ(after.latest_stream_arn, before.latest_stream_arn);
  EXPECT_EQ(after.encryption.value().key_id, before.encryption.value().key_id);
  EXPECT_EQ(after.warm, before.warm);
  EXPECT_EQ(tables().list_tags(after.arn)->tags, (std::vector<store::Tag>{{"team", "mail"}}));
  EXPECT_EQ(describe("other").throughput.provisioned, (store::Throughput{5, 6}));
  EXPECT_EQ(core().catalog->state()->streams.size(), 1U);
}

TEST_F(TableOperationsTest, IdsAreNeverUsedTwice) {
  create(rich_table());
  const TablePointer first = core().catalog->find("mail");
  reopen();
  create(simple_table("abc"));
  const TablePointer second = core().catalog->find("abc");
  EXPECT_GT(second->id, first->id);
  for (const Index& index : first->indexes) EXPECT_NE(second->id, index.id);
  EXPECT_GT(second->id, first->stream->id);
}

TEST_F(TableOperationsTest, CountsAreLive) {
  create(simple_table("abc"));
  put_plain_item("abc", "one");
  put_plain_item("abc", "four");
  EXPECT_EQ(describe("abc").item_count, 2);
  EXPECT_EQ(describe("abc").size_bytes, 5 + 6);
  reopen();
  EXPECT_EQ(describe("abc").item_count, 2);
}

TEST_F(TableOperationsTest, ATableExistsOnce) {
  create(simple_table("abc"));
  const store::Error error = tables().create(simple_table("abc")).error();
  EXPECT_EQ(error.type, ErrorType::resource_in_use);
  EXPECT_EQ(error.message, "Table already exists: abc");
}

TEST_F(TableOperationsTest, InvalidRequestsCreateNothing) {
  CreateTableRequest request = simple_table("abc");
  request.key_schema.clear();
  EXPECT_EQ(tables().create(request).error().type, ErrorType::validation);
  EXPECT_FALSE(tables().describe("abc"));
}

TEST_F(TableOperationsTest, UnknownTables) {
  const store::Error described = tables().describe("abc").error();
  EXPECT_EQ(described.type, ErrorType::resource_not_found);
  EXPECT_EQ(described.message, "Requested resource not found: Table: abc not found");
  EXPECT_EQ(tables().remove("abc").error().message, "Requested resource not found: Table: abc not found");
  EXPECT_EQ(tables().describe("a").error().message,
            "1 validation error detected: Value 'a' at 'tableName' failed to satisfy constraint: Member must have "
            "length greater than or equal to 3");
  EXPECT_EQ(tables().remove("a").error().type, ErrorType::validation);
}

TEST_F(TableOperationsTest, DeletionTakesEverythingWithIt) {
  CreateTableRequest request = simple_table("abc");
  request.stream = {true, store::StreamViewType::keys_only};
  create(request);
  put_plain_item("abc", "one");
  const TablePointer table = core().catalog->find("abc");
  EXPECT_EQ(records(Family::items, table->id), 1U);
  const store::TableDescription description = tables().remove("abc").value();
  EXPECT_EQ(description.status, TableStatus::deleting);
  EXPECT_EQ(description.id, table->uuid);
  EXPECT_FALSE(tables().describe("abc"));
  EXPECT_EQ(records(Family::items, table->id), 0U);
  reopen();
  EXPECT_FALSE(tables().describe("abc"));
}

TEST_F(TableOperationsTest, TheStreamOutlivesItsTable) {
  CreateTableRequest request = simple_table("abc");
  request.stream = {true, store::StreamViewType::keys_only};
  create(request);
  clock().advance(std::chrono::minutes(1));
  ASSERT_TRUE(tables().remove("abc"));
  reopen();
  const CatalogStatePointer state = core().catalog->state();
  ASSERT_EQ(state->streams.size(), 1U);
  const Stream& stream = *state->streams.begin()->second;
  EXPECT_FALSE(stream.enabled);
  EXPECT_EQ(stream.table_name, "abc");
  EXPECT_EQ(stream.created, test_start);
  ASSERT_EQ(stream.shards.size(), 1U);
  EXPECT_EQ(stream.shards[0].closed, test_start + std::chrono::minutes(1));
  EXPECT_EQ(stream.shards[0].end, stream.shards[0].first);
}

TEST_F(TableOperationsTest, ARecreatedTableIsAnother) {
  CreateTableRequest request = simple_table("abc");
  request.stream = {true, store::StreamViewType::keys_only};
  const store::TableDescription first = create(request);
  ASSERT_TRUE(tables().remove("abc"));
  const store::TableDescription second = create(request);
  EXPECT_NE(first.id, second.id);
  EXPECT_EQ(first.arn, second.arn);
  // Made in the same millisecond, the streams still have names of their own.
  EXPECT_EQ(first.latest_stream_label, "2026-01-02T03:04:05.678");
  EXPECT_EQ(second.latest_stream_label, "2026-01-02T03:04:05.679");
}

TEST_F(TableOperationsTest, ProtectedTablesStay) {
  create(rich_table());
  const store::Error error = tables().remove("mail").error();
  EXPECT_EQ(error.type, ErrorType::validation);
  EXPECT_EQ(error.message,
            "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection "
            "first.");
  EXPECT_TRUE(tables().describe("mail"));
}

TEST_F(TableOperationsTest, ListingPagesInByteOrder) {
  for (const char* name : {"bbb", "aaa", "Zzz", "a.b"}) create(simple_table(name));
  EXPECT_EQ(tables().list({})->table_names, (std::vector<std::string>{"Zzz", "a.b", "aaa", "bbb"}));
  EXPECT_FALSE(tables().list({})->last_evaluated_table_name);

  const store::ListTablesResponse first = tables().list({{}, 2}).value();
  EXPECT_EQ(first.table_names, (std::vector<std::string>{"Zzz", "a.b"}));
  EXPECT_EQ(first.last_evaluated_table_name, "a.b");
  const store::ListTablesResponse second = tables().list({first.last_evaluated_table_name, 2}).value();
  EXPECT_EQ(second.table_names, (std::vector<std::string>{"aaa", "bbb"}));
  EXPECT_FALSE(second.last_evaluated_table_name);

  EXPECT_EQ(tables().list({"aab", {}})->table_names, std::vector<std::string>{"bbb"});
  EXPECT_TRUE(tables().list({"zzz", {}})->table_names.empty());
}

TEST_F(TableOperationsTest, ListingHasLimits) {
  EXPECT_EQ(tables().list({{}, 0}).error().message,
            "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value "
            "greater than or equal to 1");
  EXPECT_EQ(tables().list({{}, 101}).error().message,
            "1 validation error detected: Value '101' at 'limit' failed to satisfy constraint: Member must have value "
            "less than or equal to 100");
  EXPECT_EQ(tables().list({"", {}}).error().message,
            "2 validation errors detected: Value '' at 'exclusiveStartTableName' failed to satisfy constraint: Member "
            "must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; Value '' at 'exclusiveStartTableName' failed to "
            "satisfy constraint: Member must have length greater than or equal to 3");
}

TEST_F(TableOperationsTest, AHundredTablesAPageAndTwoThousandFiveHundredInAll) {
  // Published without going to disk, because two and a half thousand commits would take their time.
  CatalogState state;
  for (int i = 0; i < 2'500; ++i) {
    auto table = std::make_shared<Table>();
    table->name = "table" + std::to_string(10'000 + i);
    state.tables.emplace(table->name, table);
  }
  core().catalog->publish(std::move(state));
  const store::ListTablesResponse page = tables().list({}).value();
  EXPECT_EQ(page.table_names.size(), 100U);
  EXPECT_EQ(page.last_evaluated_table_name, "table10099");
  const store::Error error = tables().create(simple_table("one-more")).error();
  EXPECT_EQ(error.type, ErrorType::limit_exceeded);
  EXPECT_EQ(error.message, "Subscriber limit exceeded: There is a limit of 2500 tables per subscriber");
}

}  // namespace
}  // namespace postino::engine
