#include "engine/tables/table_transition.h"

#include <atomic>
#include <thread>

#include "engine/engine_testing.h"

namespace postino::engine {
namespace {

using store::IndexStatus;
using store::StreamStatus;
using store::TableStatus;
using store::Throughput;
using store::TimeToLiveStatus;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr base::Milliseconds moment(1);
const std::string in_use = "ResourceInUseException: Attempt to change a resource which is still in use: ";
const std::string mails_arn = "arn:aws:dynamodb:us-east-1:000000000000:table/mails";

class TransitionTest : public EngineTest {
 protected:
  TransitionTest() {
    options_.realistic_timing = true;
    reopen();
  }

  void wait(base::Milliseconds time) { clock().advance(time); }
  // Keys pk, and a global index by-g on g.
  void create_mails(bool provisioned = false) {
    store::CreateTableRequest request = table("mails", "pk:S");
    add_global_index(request, "by-g", "g:S");
    if (provisioned) {
      request.billing_mode = store::BillingMode::provisioned;
      request.throughput = {5, 5};
      request.global_indexes->front().throughput = {2, 2};
    }
    create(request);
    wait(std::chrono::seconds(3));
  }
  store::TableDescription describe() { return store().describe_table("mails").value(); }
  TableStatus status() { return describe().status; }
  std::vector<std::string> listed() { return store().list_tables({})->table_names; }

  static store::UpdateTableRequest change() {
    store::UpdateTableRequest request;
    request.table_name = "mails";
    return request;
  }
  static store::UpdateTableRequest provision(Throughput throughput) {
    store::UpdateTableRequest request = change();
    request.throughput = throughput;
    return request;
  }
  static store::UpdateTableRequest create_index(std::string name, std::string attribute) {
    store::UpdateTableRequest request = change();
    store::GlobalIndexDefinition index;
    index.name = std::move(name);
    index.key_schema = {{attribute, store::KeyRole::hash}};
    index.projection.type = store::ProjectionType::all;
    request.attribute_definitions = {{std::move(attribute), item::Type::string}};
    request.global_index_updates = {store::CreateGlobalIndex{std::move(index)}};
    return request;
  }
  static store::UpdateTableRequest delete_index(std::string name) {
    store::UpdateTableRequest request = change();
    request.global_index_updates = {store::DeleteGlobalIndex{std::move(name)}};
    return request;
  }
  static store::UpdateTableRequest stream(bool enabled) {
    store::UpdateTableRequest request = change();
    request.stream = store::StreamSpecification{enabled, {}};
    if (enabled) request.stream->view_type = store::StreamViewType::keys_only;
    return request;
  }
  static store::UpdateTableRequest protect(bool protection) {
    store::UpdateTableRequest request = change();
    request.deletion_protection = protection;
    return request;
  }
  store::TableDescription update(const store::UpdateTableRequest& request) {
    const auto answer = store().update_table(request);
    EXPECT_EQ(outcome(answer), "ok");
    return answer.value();
  }
  std::string refusal(const store::UpdateTableRequest& request) { return outcome(store().update_table(request)); }
  std::string deletion() { return outcome(store().delete_table("mails")); }
  store::Answer<store::PageResponse> query(const std::string& index, const std::string& attribute) {
    store::QueryRequest request;
    request.table_name = "mails";
    request.index_name = index;
    request.key_condition = attribute + " = :v";
    request.placeholders.values = item::Map{{":v", "x"}};
    return store().query(request);
  }
  void run_maintenance() {
    for (auto more = engine().run_maintenance_once();; more = engine().run_maintenance_once()) {
      ASSERT_EQ(outcome(more), "ok");
      if (!*more) return;
    }
  }
};

TEST_F(EngineTest, TablesChangeAtOnceUnlessTimingIsRealistic) {
  create(table("mails", "pk:S"));
  put("mails", R"({"pk":{"S":"k"}})");
  EXPECT_EQ(store().describe_table("mails")->status, TableStatus::active);
  ASSERT_TRUE(store().update_time_to_live("mails", {"expires", true}));
  EXPECT_EQ(store().describe_time_to_live("mails")->status, TimeToLiveStatus::enabled);
  EXPECT_EQ(outcome(store().update_time_to_live("mails", {"expires", false})), "ok");
  store::UpdateTableRequest protect{.table_name = "mails"};
  for (const bool protection : {true, false}) {
    protect.deletion_protection = protection;
    EXPECT_EQ(outcome(store().update_table(protect)), "ok");
  }
  EXPECT_EQ(outcome(store().delete_table("mails")), "ok");
  EXPECT_THAT(store().list_tables({})->table_names, IsEmpty());
}

TEST_F(TransitionTest, ANewTableIsThereAfterThreeSeconds) {
  store::CreateTableRequest request = table("mails", "pk:S");
  add_global_index(request, "by-g", "g:S");
  request.stream = store::StreamSpecification{true, store::StreamViewType::keys_only};
  EXPECT_EQ(store().create_table(request)->status, TableStatus::creating);
  wait(std::chrono::seconds(3) - moment);
  EXPECT_EQ(status(), TableStatus::creating);
  EXPECT_FALSE(describe().warm);
  EXPECT_EQ(describe().global_indexes[0].status, IndexStatus::creating);
  EXPECT_EQ(store().describe_stream({.stream_arn = *describe().latest_stream_arn})->status, StreamStatus::enabling);
  EXPECT_THAT(listed(), ElementsAre("mails"));
  wait(moment);
  EXPECT_EQ(status(), TableStatus::active);
  EXPECT_TRUE(describe().warm);
  EXPECT_EQ(describe().global_indexes[0].status, IndexStatus::active);
  EXPECT_EQ(store().describe_stream({.stream_arn = *describe().latest_stream_arn})->status, StreamStatus::enabled);
  put("mails", R"({"pk":{"S":"k"}})");
}

TEST_F(TransitionTest, ATableThatIsBeingCreatedHasNoItemsYet) {
  create(table("mails", "pk:S"));
  const std::string not_found = "ResourceNotFoundException: Requested resource not found";
  EXPECT_EQ(get("mails", R"({"pk":{"S":"k"}})"), not_found);
  EXPECT_EQ(outcome(store().put_item({.table_name = "mails", .item = {{"pk", "k"}}})), not_found);
  store::ScanRequest scan;
  scan.table_name = "mails";
  EXPECT_EQ(outcome(store().scan(scan)), not_found);
  store::BatchGetItemRequest batch_get;
  batch_get.tables = {{.table_name = "mails", .keys = {item::Key{{"pk", "k"}}}}};
  EXPECT_EQ(outcome(store().batch_get_item(batch_get)), not_found);
  store::BatchWriteItemRequest batch_write;
  batch_write.tables = {{"mails", {store::BatchPut{{{"pk", "k"}}}}}};
  EXPECT_EQ(outcome(store().batch_write_item(batch_write)), not_found);
  store::TransactWriteItemsRequest write;
  write.actions = {store::TransactPut{.table_name = "mails", .item = {{"pk", "k"}}}};
  EXPECT_EQ(outcome(store().transact_write_items(write)), not_found);
  store::TransactGetItemsRequest read;
  read.gets = {{.table_name = "mails", .key = {{"pk", "k"}}}};
  EXPECT_EQ(outcome(store().transact_get_items(read)), not_found);
}

TEST_F(TransitionTest, ATableThatIsBeingCreatedCannotBeChanged) {
  const store::CreateTableRequest request = table("mails", "pk:S");
  create(request);
  const std::string being_created = in_use + "Table is being created: mails";
  EXPECT_EQ(outcome(store().create_table(request)), being_created);
  EXPECT_EQ(refusal(protect(true)), being_created);
  EXPECT_EQ(deletion(), being_created);
  EXPECT_EQ(outcome(store().tag_resource(mails_arn, {{"a", "b"}})), being_created);
  EXPECT_EQ(outcome(store().update_time_to_live("mails", {"expires", true})), being_created);
  EXPECT_EQ(outcome(store().describe_time_to_live("mails")),
            "ValidationException: Cannot describe time to live while table is in CREATING state: Current table state "
            "is CREATING");
  EXPECT_EQ(outcome(store().update_continuous_backups("mails", {.enabled = true})),
            "ContinuousBackupsUnavailableException: Backups are being enabled for the table: mails. Please retry "
            "later");
  wait(std::chrono::seconds(3));
  EXPECT_EQ(outcome(store().create_table(request)), "ResourceInUseException: Table already exists: mails");
}

TEST_F(TransitionTest, ADeletedTableIsGoneAfterThreeSeconds) {
  create_mails();
  put("mails", R"({"pk":{"S":"k"}})");
  EXPECT_EQ(store().delete_table("mails")->status, TableStatus::deleting);
  const std::string being_deleted = in_use + "Table is being deleted: mails";
  wait(std::chrono::seconds(3) - moment);
  EXPECT_EQ(status(), TableStatus::deleting);
  EXPECT_THAT(listed(), ElementsAre("mails"));
  EXPECT_EQ(get("mails", R"({"pk":{"S":"k"}})"), "ResourceNotFoundException: Requested resource not found");
  EXPECT_EQ(deletion(), being_deleted);
  EXPECT_EQ(refusal(protect(true)), being_deleted);
  EXPECT_EQ(outcome(store().create_table(table("mails", "pk:S"))), being_deleted);
  wait(moment);
  EXPECT_EQ(outcome(store().describe_table("mails")),
            "ResourceNotFoundException: Requested resource not found: Table: mails not found");
  EXPECT_THAT(listed(), IsEmpty());
  create_mails();
  EXPECT_EQ(get("mails", R"({"pk":{"S":"k"}})"), "");
  EXPECT_EQ(describe().item_count, 0);
}

TEST_F(TransitionTest, ThroughputChangesAfterASecondAndAHalf) {
  create_mails(true);
  EXPECT_EQ(update(provision({9, 3})).status, TableStatus::updating);
  const base::TimePoint changed = clock().now();
  wait(base::Milliseconds(1'500) - moment);
  store::TableDescription shown = describe();
  EXPECT_EQ(shown.status, TableStatus::updating);
  EXPECT_EQ(shown.throughput.provisioned, (Throughput{5, 5}));
  EXPECT_EQ(shown.throughput.decreases_today, 0);
  EXPECT_EQ(shown.throughput.last_increase, changed);
  put("mails", R"({"pk":{"S":"k"}})");
  EXPECT_EQ(refusal(provision({6, 6})), in_use + "Table IOPS are currently being updated. Table: mails");
  const std::string being_updated = in_use + "Table: mails is in the process of being updated.";
  EXPECT_EQ(refusal(protect(true)), being_updated);
  EXPECT_EQ(refusal(stream(true)), being_updated);
  EXPECT_EQ(deletion(), being_updated);
  wait(moment);
  shown = describe();
  EXPECT_EQ(shown.status, TableStatus::active);
  EXPECT_EQ(shown.throughput.provisioned, (Throughput{9, 3}));
  EXPECT_EQ(shown.throughput.decreases_today, 1);
  EXPECT_EQ(shown.throughput.last_decrease, changed);
  EXPECT_EQ(shown.warm, (Throughput{9, 5}));
}

TEST_F(TransitionTest, AnIndexsThroughputLeavesTheTableActive) {
  create_mails(true);
  store::UpdateTableRequest request = change();
  request.global_index_updates = {store::UpdateGlobalIndex{"by-g", Throughput{3, 3}, {}, {}}};
  update(request);
  EXPECT_EQ(status(), TableStatus::active);
  EXPECT_EQ(describe().global_indexes[0].status, IndexStatus::updating);
  EXPECT_EQ(describe().global_indexes[0].throughput.provisioned, (Throughput{2, 2}));
  EXPECT_EQ(refusal(request), in_use + "Table IOPS are currently being updated. Table: mails");
  EXPECT_EQ(deletion(), in_use + "Cannot delete table while indexes are being created, updated, or deleted.");
  wait(base::Milliseconds(1'500));
  EXPECT_EQ(describe().global_indexes[0].status, IndexStatus::active);
  EXPECT_EQ(describe().global_indexes[0].throughput.provisioned, (Throughput{3, 3}));
}

TEST_F(TransitionTest, TheBillingModeChangesAfterFiveSeconds) {
  create_mails(true);
  store::UpdateTableRequest request = change();
  request.billing_mode = store::BillingMode::pay_per_request;
  request.on_demand = {10, 20};
  update(request);
  wait(std::chrono::seconds(5) - moment);
  EXPECT_EQ(status(), TableStatus::updating);
  EXPECT_EQ(describe().billing_mode, store::BillingMode::provisioned);
  EXPECT_EQ(describe().global_indexes[0].status, IndexStatus::updating);
  wait(moment);
  EXPECT_EQ(status(), TableStatus::active);
  EXPECT_EQ(describe().billing_mode, store::BillingMode::pay_per_request);
  EXPECT_EQ(describe().on_demand, (store::OnDemandThroughput{10, 20}));
  EXPECT_EQ(describe().global_indexes[0].throughput.provisioned, (Throughput{0, 0}));
  // Sent again it changes nothing, and there is nothing to wait for.
  request.on_demand.reset();
  EXPECT_EQ(update(request).status, TableStatus::updating);
  EXPECT_EQ(status(), TableStatus::active);
}

TEST_F(TransitionTest, WhatChangesMeanwhileIsKept) {
  create_mails(true);
  store::UpdateTableRequest request = change();
  request.table_class = store::TableClass::standard_infrequent_access;
  update(request);
  ASSERT_EQ(outcome(store().tag_resource(mails_arn, {{"team", "mail"}})), "ok");
  ASSERT_EQ(outcome(store().update_time_to_live("mails", {"expires", true})), "ok");
  EXPECT_FALSE(describe().table_class);
  wait(std::chrono::seconds(5));
  EXPECT_EQ(describe().table_class, store::TableClass::standard_infrequent_access);
  EXPECT_THAT(store().list_tags_of_resource(mails_arn)->tags, ElementsAre(store::Tag{"team", "mail"}));
  EXPECT_EQ(store().describe_time_to_live("mails")->status, TimeToLiveStatus::enabled);
}

TEST_F(TransitionTest, ANewIndexIsAllocatedThenFilledThenActive) {
  create_mails();
  put("mails", R"({"pk":{"S":"before"},"h":{"S":"x"}})");
  update(create_index("by-h", "h"));
  put("mails", R"({"pk":{"S":"during"},"h":{"S":"x"}})");
  run_maintenance();
  wait(std::chrono::seconds(5) - moment);
  EXPECT_EQ(status(), TableStatus::updating);
  EXPECT_EQ(describe().global_indexes[1].status, IndexStatus::creating);
  EXPECT_EQ(describe().global_indexes[1].backfilling, false);
  const std::string unreadable = "ValidationException: Cannot read from backfilling global secondary index: by-h";
  EXPECT_EQ(outcome(query("by-h", "h")), unreadable);
  EXPECT_EQ(query("by-h", "h").error().rule, base::Rule::filled_index);
  EXPECT_EQ(refusal(delete_index("by-h")),
            in_use +
                "Index creation is in resource allocation phase. Retry deletion during backfilling phase or when "
                "the index is active. Table: mails Index: by-h");
  const std::string one_at_a_time =
      "LimitExceededException: Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously "
      "per table";
  EXPECT_EQ(refusal(create_index("by-i", "i")), one_at_a_time);
  EXPECT_EQ(refusal(delete_index("by-g")), one_at_a_time);
  EXPECT_EQ(deletion(), in_use + "Cannot delete table while indexes are being created, updated, or deleted.");
  wait(moment);
  EXPECT_EQ(status(), TableStatus::active);
  EXPECT_EQ(describe().global_indexes[1].status, IndexStatus::creating);
  EXPECT_EQ(describe().global_indexes[1].backfilling, true);
  EXPECT_EQ(outcome(query("by-h", "h")), unreadable);
  run_maintenance();
  EXPECT_EQ(describe().global_indexes[1].status, IndexStatus::active);
  EXPECT_FALSE(describe().global_indexes[1].backfilling);
  EXPECT_EQ(query("by-h", "h")->count, 2);
}

TEST_F(TransitionTest, TheIndexOfAnEmptyTableNeedsNoFilling) {
  create_mails();
  update(create_index("by-h", "h"));
  EXPECT_EQ(describe().global_indexes[1].backfilling, false);
  wait(std::chrono::seconds(5));
  EXPECT_EQ(describe().global_indexes[1].status, IndexStatus::active);
  put("mails", R"({"pk":{"S":"k"},"h":{"S":"x"}})");
  EXPECT_EQ(query("by-h", "h")->count, 1);
}

TEST_F(TransitionTest, ADeletedIndexServesUntilItIsGone) {
  create_mails();
  put("mails", R"({"pk":{"S":"k"},"g":{"S":"x"}})");
  EXPECT_EQ(update(delete_index("by-g")).global_indexes[0].status, IndexStatus::deleting);
  wait(std::chrono::seconds(5) - moment);
  EXPECT_EQ(status(), TableStatus::updating);
  EXPECT_EQ(describe().global_indexes[0].status, IndexStatus::deleting);
  EXPECT_EQ(query("by-g", "g")->count, 1);
  EXPECT_EQ(refusal(delete_index("by-g")), in_use + "Index is being deleted. Table: mails Index: by-g");
  EXPECT_EQ(deletion(), in_use + "Cannot delete table while indexes are being created, updated, or deleted.");
  wait(moment);
  EXPECT_EQ(status(), TableStatus::active);
  EXPECT_THAT(describe().global_indexes, IsEmpty());
  EXPECT_THAT(describe().attribute_definitions, SizeIs(1));
  EXPECT_EQ(outcome(query("by-g", "g")), "ValidationException: The table does not have the specified index: by-g");
}

TEST_F(TransitionTest, StreamsTakeFourSeconds) {
  create_mails();
  update(stream(true));
  const std::string label = describe().latest_stream_label.value();
  const std::string stream_arn = describe().latest_stream_arn.value();
  wait(std::chrono::seconds(4) - moment);
  EXPECT_EQ(status(), TableStatus::updating);
  EXPECT_EQ(store().describe_stream({.stream_arn = stream_arn})->status, StreamStatus::enabling);
  EXPECT_EQ(refusal(stream(false)), in_use + "A stream status change is currently in progress. Table: mails Stream: " +
                                        label + " Operation: ENABLE");
  EXPECT_EQ(deletion(), in_use + "Cannot delete table while stream is being enabled/disabled.");
  wait(moment);
  EXPECT_EQ(status(), TableStatus::active);
  EXPECT_EQ(store().describe_stream({.stream_arn = stream_arn})->status, StreamStatus::enabled);
  update(stream(false));
  EXPECT_EQ(store().describe_stream({.stream_arn = stream_arn})->status, StreamStatus::disabling);
  EXPECT_EQ(refusal(stream(true)), in_use + "A stream status change is currently in progress. Table: mails Stream: " +
                                       label + " Operation: DISABLE");
  wait(std::chrono::seconds(4));
  EXPECT_EQ(store().describe_stream({.stream_arn = stream_arn})->status, StreamStatus::disabled);
}

TEST_F(TransitionTest, TimeToLiveTakesAMomentAndHasACooldown) {
  create_mails();
  EXPECT_EQ(store().describe_time_to_live("mails")->status, TimeToLiveStatus::disabled);
  ASSERT_TRUE(store().update_time_to_live("mails", {"expires", true}));
  EXPECT_EQ(store().describe_time_to_live("mails")->status, TimeToLiveStatus::enabling);
  wait(std::chrono::seconds(3));
  EXPECT_EQ(store().describe_time_to_live("mails")->status, TimeToLiveStatus::enabled);
  EXPECT_EQ(outcome(store().update_time_to_live("mails", {"expires", true})),
            "ValidationException: TimeToLive is already enabled");
  const std::string too_soon =
      "ValidationException: Time to live has been modified multiple times within a fixed interval";
  EXPECT_EQ(outcome(store().update_time_to_live("mails", {"expires", false})), too_soon);
  wait(std::chrono::minutes(31));
  ASSERT_EQ(outcome(store().update_time_to_live("mails", {"expires", false})), "ok");
  EXPECT_EQ(store().describe_time_to_live("mails")->status, TimeToLiveStatus::disabling);
  EXPECT_EQ(store().describe_time_to_live("mails")->attribute_name, "expires");
  reopen();
  EXPECT_EQ(outcome(store().update_time_to_live("mails", {"expires", true})), too_soon);
  wait(std::chrono::seconds(3));
  EXPECT_EQ(store().describe_time_to_live("mails")->status, TimeToLiveStatus::disabled);
}

TEST_F(TransitionTest, DeletionProtectionHasACooldown) {
  create_mails();
  update(protect(true));
  EXPECT_EQ(status(), TableStatus::active);
  EXPECT_TRUE(describe().deletion_protection);
  wait(std::chrono::seconds(15) - moment);
  // Created at 03:04:05, protected at 03:04:08.
  EXPECT_EQ(refusal(protect(false)),
            "ThrottlingException: Deletion protection for table mails modified within the previous 15000 milliseconds. "
            "Please try again after 2026-01-02T03:04:23.000Z.");
  wait(moment);
  update(protect(false));
  EXPECT_EQ(deletion(), "ok");
}

TEST_F(TransitionTest, WhatIsUnderWaySurvivesARestart) {
  create_mails(true);
  create(table("young", "pk:S"));
  update(provision({9, 9}));
  reopen();
  EXPECT_EQ(store().describe_table("young")->status, TableStatus::creating);
  EXPECT_EQ(status(), TableStatus::updating);
  EXPECT_EQ(describe().throughput.provisioned, (Throughput{5, 5}));
  wait(std::chrono::seconds(3));
  EXPECT_EQ(store().describe_table("young")->status, TableStatus::active);
  EXPECT_EQ(describe().throughput.provisioned, (Throughput{9, 9}));

  ASSERT_TRUE(store().delete_table("young"));
  store::UpdateTableRequest index = create_index("by-h", "h");
  std::get<store::CreateGlobalIndex>(index.global_index_updates[0]).definition.throughput = {1, 1};
  update(index);
  reopen();
  EXPECT_EQ(store().describe_table("young")->status, TableStatus::deleting);
  EXPECT_EQ(describe().global_indexes[1].backfilling, false);
  engine_.reset();
  wait(std::chrono::hours(1));
  reopen();
  EXPECT_THAT(listed(), ElementsAre("mails"));
  EXPECT_EQ(describe().global_indexes[1].status, IndexStatus::active);
}

TEST_F(TransitionTest, AStoreWithoutRealisticTimingHasNothingUnderWay) {
  create_mails(true);
  create(table("young", "pk:S"));
  create(table("old", "pk:S"));
  wait(std::chrono::seconds(3));
  ASSERT_TRUE(store().delete_table("old"));
  update(provision({9, 9}));
  create(table("younger", "pk:S"));
  options_.realistic_timing = false;
  reopen();
  EXPECT_THAT(listed(), ElementsAre("mails", "young", "younger"));
  for (const std::string& name : listed()) EXPECT_EQ(store().describe_table(name)->status, TableStatus::active) << name;
  EXPECT_EQ(describe().throughput.provisioned, (Throughput{9, 9}));
}

TEST_F(TransitionTest, MaintenanceEndsWhatNobodyAsksFor) {
  store::CreateTableRequest request = table("mails", "pk:S");
  request.stream = store::StreamSpecification{true, store::StreamViewType::keys_only};
  create(request);
  wait(std::chrono::seconds(3));
  auto subscription = store().subscribe("mails", std::nullopt);
  ASSERT_EQ(outcome(subscription), "ok");
  ASSERT_TRUE(store().delete_table("mails"));
  wait(std::chrono::seconds(3));
  EXPECT_EQ(outcome((*subscription)->next(1, base::Milliseconds(0))), "ok");
  run_maintenance();
  EXPECT_EQ((*subscription)->next(1, base::Milliseconds(0)).error().type, store::ErrorType::resource_not_found);
}

using ConcurrentTransitionTest = TransitionTest;

TEST_F(ConcurrentTransitionTest, AnIndexMissesNoWriteWhileItComes) {
  create_mails();
  std::atomic<bool> stop = false;
  std::atomic<int> written = 0;
  std::vector<std::thread> writers;
  for (int thread = 0; thread < 2; ++thread)
    writers.emplace_back([&, thread] {
      for (int i = 0; !stop || i < 10; ++i) {
        const std::string key = std::to_string(thread) + "-" + std::to_string(i);
        const auto put = store().put_item({.table_name = "mails", .item = {{"pk", key}, {"h", "x"}}});
        EXPECT_EQ(outcome(put), "ok");
        ++written;
      }
    });
  while (written < 20) std::this_thread::yield();
  update(create_index("by-h", "h"));
  while (describe().global_indexes[1].status != IndexStatus::active) {
    wait(std::chrono::seconds(1));
    ASSERT_EQ(outcome(engine().run_maintenance_once()), "ok");
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(describe().global_indexes[1].item_count, written);
  EXPECT_EQ(describe().item_count, written);
}

}  // namespace
}  // namespace postino::engine
