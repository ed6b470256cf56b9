#include "base/many_threads_testing.h"
#include "tested_store.h"

namespace postino::remote {
namespace {

using item::Type;
using store::ErrorType;
using store::KeyRole;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

class TableStoreTest : public StoreTest {};
class TableSettingsTest : public StoreTest {};
class TableWordingTest : public StoreTest {};
class TableUpkeepTest : public StoreTest {};
class TableExpiryTest : public StoreTest {};
class TableRecoveryTest : public StoreTest {};

store::CreateTableRequest request_with_everything() {
  store::CreateTableRequest request;
  request.table_name = "everything";
  request.attribute_definitions = {{"pk", Type::string}, {"sk", Type::binary}, {"g", Type::number}};
  request.key_schema = {{"pk", KeyRole::hash}, {"sk", KeyRole::range}};
  store::LocalIndexDefinition local;
  local.name = "by-l";
  local.key_schema = {{"pk", KeyRole::hash}, {"g", KeyRole::range}};
  local.projection = {store::ProjectionType::include, std::vector<std::string>{"a", "b"}};
  request.local_indexes = {local};
  store::GlobalIndexDefinition global;
  global.name = "by-g";
  global.key_schema = {{"g", KeyRole::hash}};
  global.projection.type = store::ProjectionType::keys_only;
  global.throughput = store::Throughput{3, 4};
  request.global_indexes = {global};
  request.billing_mode = store::BillingMode::provisioned;
  request.throughput = store::Throughput{5, 6};
  request.stream = store::StreamSpecification{true, store::StreamViewType::new_image};
  request.table_class = store::TableClass::standard_infrequent_access;
  request.deletion_protection = true;
  request.tags = {{"team", "mail"}, {"empty", ""}};
  return request;
}

TEST_P(TableSettingsTest, AreDescribed) {
  ASSERT_EQ(refusal_of(store().create_table(request_with_everything())), "");
  const auto found = store().describe_table("everything");
  ASSERT_EQ(refusal_of(found), "");
  EXPECT_EQ(found->name, "everything");
  EXPECT_EQ(found->status, store::TableStatus::active);
  EXPECT_EQ(found->created, engine::embedded_start);
  EXPECT_FALSE(found->id.empty());
  EXPECT_THAT(found->arn, testing::HasSubstr(":table/everything"));
  EXPECT_THAT(found->key_schema,
              ElementsAre(store::KeyElement{"pk", KeyRole::hash}, store::KeyElement{"sk", KeyRole::range}));
  EXPECT_THAT(found->attribute_definitions, UnorderedElementsAre(store::AttributeDefinition{"pk", Type::string},
                                                                 store::AttributeDefinition{"sk", Type::binary},
                                                                 store::AttributeDefinition{"g", Type::number}));
  EXPECT_EQ(found->billing_mode, store::BillingMode::provisioned);
  EXPECT_EQ(found->throughput.provisioned, (store::Throughput{5, 6}));
  ASSERT_TRUE(found->warm);
  EXPECT_EQ(found->stream, store::StreamViewType::new_image);
  EXPECT_TRUE(found->latest_stream_arn && found->latest_stream_label);
  EXPECT_EQ(found->table_class, store::TableClass::standard_infrequent_access);
  EXPECT_TRUE(found->deletion_protection);
  ASSERT_EQ(found->local_indexes.size(), 1U);
  EXPECT_EQ(found->local_indexes[0].name, "by-l");
  EXPECT_EQ(found->local_indexes[0].projection, store::ProjectionType::include);
  EXPECT_THAT(found->local_indexes[0].non_key_attributes, UnorderedElementsAre("a", "b"));
  ASSERT_EQ(found->global_indexes.size(), 1U);
  EXPECT_EQ(found->global_indexes[0].name, "by-g");
  EXPECT_EQ(found->global_indexes[0].status, store::IndexStatus::active);
  EXPECT_EQ(found->global_indexes[0].projection, store::ProjectionType::keys_only);
  EXPECT_EQ(found->global_indexes[0].throughput.provisioned, (store::Throughput{3, 4}));
  EXPECT_THAT(store().list_tags_of_resource(found->arn)->tags,
              UnorderedElementsAre(store::Tag{"team", "mail"}, store::Tag{"empty", ""}));
}

TEST_P(TableWordingTest, KnowsOneTableOfAName) {
  create_table("one");
  store::CreateTableRequest again = store::CreateTableRequest();
  again.table_name = "one";
  again.attribute_definitions = {{"pk", Type::string}};
  again.key_schema = {{"pk", KeyRole::hash}};
  again.billing_mode = store::BillingMode::pay_per_request;
  EXPECT_EQ(refusal_of(store().create_table(again)), "ResourceInUseException: Table already exists: one");
}

TEST_P(TableUpkeepTest, AddsAndRemovesAnIndex) {
  create_table("one");
  store::UpdateTableRequest request;
  request.table_name = "one";
  request.attribute_definitions = {{"pk", Type::string}, {"g", Type::string}};
  store::GlobalIndexDefinition index;
  index.name = "by-g";
  index.key_schema = {{"g", KeyRole::hash}};
  index.projection.type = store::ProjectionType::all;
  request.global_index_updates.emplace_back(store::CreateGlobalIndex{index});
  const auto updated = store().update_table(request);
  ASSERT_EQ(refusal_of(updated), "");
  ASSERT_EQ(updated->global_indexes.size(), 1U);
  EXPECT_EQ(updated->global_indexes[0].status, store::IndexStatus::creating);
  for (int i = 0; i < 100 && engine().run_maintenance_once().value_or(false); ++i) {
  }
  EXPECT_EQ(store().describe_table("one")->global_indexes.at(0).status, store::IndexStatus::active);
  request = {};
  request.table_name = "one";
  request.global_index_updates.emplace_back(store::DeleteGlobalIndex{"by-g"});
  ASSERT_EQ(refusal_of(store().update_table(request)), "");
  EXPECT_TRUE(store().describe_table("one")->global_indexes.empty());
}

TEST_P(TableSettingsTest, ChangeWhatATableMayCost) {
  ASSERT_TRUE(store().create_table(request_with_everything()));
  store::UpdateTableRequest request;
  request.table_name = "everything";
  request.throughput = store::Throughput{7, 8};
  store::UpdateGlobalIndex index;
  index.name = "by-g";
  index.throughput = store::Throughput{9, 9};
  request.global_index_updates.emplace_back(index);
  ASSERT_EQ(refusal_of(store().update_table(request)), "");
  const auto found = store().describe_table("everything");
  EXPECT_EQ(found->throughput.provisioned, (store::Throughput{7, 8}));
  EXPECT_EQ(found->global_indexes[0].throughput.provisioned, (store::Throughput{9, 9}));
}

TEST_P(TableSettingsTest, ProtectATable) {
  ASSERT_TRUE(store().create_table(request_with_everything()));
  EXPECT_EQ(refusal_of(store().delete_table("everything")),
            "ValidationException: Resource cannot be deleted as it is currently protected against deletion. Disable "
            "deletion protection first.");
  store::UpdateTableRequest request;
  request.table_name = "everything";
  request.deletion_protection = false;
  ASSERT_EQ(refusal_of(store().update_table(request)), "");
  const auto deleted = store().delete_table("everything");
  ASSERT_EQ(refusal_of(deleted), "");
  EXPECT_EQ(deleted->name, "everything");
  EXPECT_EQ(refusal_of(store().describe_table("everything")),
            "ResourceNotFoundException: Requested resource not found: Table: everything not found");
}

TEST_P(TableStoreTest, ListsTablesInPages) {
  for (const char* name : {"ccc", "aaa", "bbb"}) create_table(name);
  store::ListTablesRequest request;
  request.limit = 2;
  const auto first = store().list_tables(request);
  ASSERT_EQ(refusal_of(first), "");
  EXPECT_THAT(first->table_names, ElementsAre("aaa", "bbb"));
  EXPECT_EQ(first->last_evaluated_table_name, "bbb");
  request.exclusive_start_table_name = first->last_evaluated_table_name;
  const auto second = store().list_tables(request);
  EXPECT_THAT(second->table_names, ElementsAre("ccc"));
  EXPECT_EQ(second->last_evaluated_table_name, std::nullopt);
}

TEST_P(TableExpiryTest, LetsItemsExpire) {
  create_table("one");
  EXPECT_EQ(store().describe_time_to_live("one")->status, store::TimeToLiveStatus::disabled);
  const auto enabled = store().update_time_to_live("one", {"ttl", true});
  ASSERT_EQ(refusal_of(enabled), "");
  EXPECT_EQ(enabled->attribute_name, "ttl");
  EXPECT_TRUE(enabled->enabled);
  const auto described = store().describe_time_to_live("one");
  EXPECT_EQ(described->status, store::TimeToLiveStatus::enabled);
  EXPECT_EQ(described->attribute_name, "ttl");
  EXPECT_EQ(refusal_of(store().update_time_to_live("one", {"ttl", true})),
            "ValidationException: TimeToLive is already enabled");
}

TEST_P(TableRecoveryTest, KeepsWhatRecoveryNeeds) {
  create_table("one");
  EXPECT_FALSE(store().describe_continuous_backups("one")->enabled);
  const auto enabled = store().update_continuous_backups("one", {true, 7});
  ASSERT_EQ(refusal_of(enabled), "");
  EXPECT_TRUE(enabled->enabled);
  EXPECT_EQ(enabled->recovery_period_days, 7);
  const auto found = store().describe_continuous_backups("one");
  EXPECT_TRUE(found->enabled);
  EXPECT_TRUE(found->earliest_restorable);
  EXPECT_EQ(refusal_of(store().describe_continuous_backups("none")), "TableNotFoundException: Table not found: none");
}

TEST_P(TableRecoveryTest, RestoresWhatATableWas) {
  create_table("one");
  ASSERT_EQ(refusal_of(store().update_continuous_backups("one", {true, {}})), "");
  ASSERT_EQ(refusal_of(store().put_item(put("one", {{"pk", "a"}, {"v", 1}}))), "");
  const base::TimePoint before = clock().now();
  clock().advance(std::chrono::seconds(1));
  ASSERT_EQ(refusal_of(store().put_item(put("one", {{"pk", "a"}, {"v", 2}}))), "");
  store::RestoreToPointInTimeRequest request;
  request.source_table_name = "one";
  request.target_table_name = "copy";
  request.time = before;
  const auto begun = store().restore_table_to_point_in_time(request);
  ASSERT_EQ(refusal_of(begun), "");
  EXPECT_EQ(begun->status, store::TableStatus::creating);
  EXPECT_EQ(begun->restore, (store::RestoreSummary{std::nullopt, store().describe_table("one")->arn, before, true}));
  while (engine().run_maintenance_once().value()) {
  }
  EXPECT_EQ(store().describe_table("copy")->status, store::TableStatus::active);
  EXPECT_EQ(store().get_item(get("copy", {{"pk", "a"}}))->item, (item::Item{{"pk", "a"}, {"v", 1}}));

  EXPECT_EQ(refusal_of(store().restore_table_to_point_in_time(request)),
            "TableAlreadyExistsException: Table already exists: copy");
  request.target_table_name = "other";
  request.time = before - std::chrono::hours(1);
  EXPECT_THAT(refusal_of(store().restore_table_to_point_in_time(request)),
              testing::StartsWith("InvalidRestoreTimeException: "));
}

TEST_P(TableStoreTest, DeletesTables) {
  create_table("one");
  const auto deleted = store().delete_table("one");
  ASSERT_EQ(refusal_of(deleted), "");
  EXPECT_EQ(deleted->name, "one");
  EXPECT_TRUE(base::eventually([&] { return !store().describe_table("one"); }));
  EXPECT_EQ(refusal_of(store().describe_table("one")),
            "ResourceNotFoundException: Requested resource not found: Table: one not found");
}

TEST_P(TableStoreTest, TagsTables) {
  create_table("one");
  const std::string arn = store().describe_table("one")->arn;
  ASSERT_EQ(refusal_of(store().tag_resource(arn, {{"a", "1"}, {"b", "2"}})), "");
  ASSERT_EQ(refusal_of(store().untag_resource(arn, {"a"})), "");
  EXPECT_THAT(store().list_tags_of_resource(arn)->tags, ElementsAre(store::Tag{"b", "2"}));
}

TEST_P(TableWordingTest, RefusesToTagWithNothing) {
  create_table("one");
  const std::string arn = store().describe_table("one")->arn;
  EXPECT_EQ(refusal_of(store().tag_resource(arn, {})),
            "ValidationException: Atleast one Tag needs to be provided as Input.");
}

ON_EVERY_STORE(TableStoreTest);
ON_STORES_WITH(TableSettingsTest, Ability::settings);
ON_STORES_WITH(TableWordingTest, Ability::wording);
ON_STORES_WITH(TableUpkeepTest, Ability::upkeep);
ON_STORES_WITH(TableExpiryTest, Ability::expiry);
ON_STORES_WITH(TableRecoveryTest, Ability::recovery);

}  // namespace
}  // namespace postino::remote
