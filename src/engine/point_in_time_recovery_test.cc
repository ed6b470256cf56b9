#include "engine/consistency_testing.h"
#include "engine/engine_testing.h"
#include "item/json_codec.h"

namespace postino::engine {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using store::TableStatus;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PointInTimeRecoveryTest : public EngineTest {
 protected:
  PointInTimeRecoveryTest() {
    store::CreateTableRequest request = table("mails", "pk:S");
    add_global_index(request, "by-state", "state:S", "pk:S");
    add_global_index(request, "names", "state:S", "name:S", store::ProjectionType::include, {"v"});
    create(request);
    protect();
  }

  void protect() { ASSERT_EQ(outcome(store().update_continuous_backups("mails", {.enabled = true})), "ok"); }
  void put_mail(const std::string& pk, int v, const std::string& state = "new") {
    put("mails",
        R"({"pk":{"S":")" + pk + R"("},"state":{"S":")" + state + R"("},"v":{"N":")" + std::to_string(v) + "\"}}");
  }
  void delete_mail(const std::string& pk) {
    ASSERT_TRUE(store().delete_item({.table_name = "mails", .key = json(R"({"pk":{"S":")" + pk + "\"}}")}));
  }
  static store::RestoreToPointInTimeRequest request_to(const std::string& target,
                                                       std::optional<base::TimePoint> time = std::nullopt) {
    store::RestoreToPointInTimeRequest request;
    request.source_table_name = "mails";
    request.target_table_name = target;
    request.time = time;
    request.use_latest_time = !time;
    return request;
  }
  void finish() {
    while (true) {
      const auto more = engine().run_maintenance_once();
      ASSERT_EQ(outcome(more), "ok");
      if (!*more) return;
    }
  }
  void restore(const std::string& target, std::optional<base::TimePoint> time = std::nullopt) {
    ASSERT_EQ(outcome(store().restore_table_to_point_in_time(request_to(target, time))), "ok");
    finish();
    EXPECT_THAT(check_table(store(), target), IsEmpty());
  }
  // pk and v of each item, in their order.
  std::vector<std::string> mails(const std::string& table_name) {
    std::vector<std::string> found;
    for (const item::Item& item : scan_everything(store(), table_name))
      found.push_back(item.find("pk")->as<std::string>() + item.find("v")->as<item::Number>().to_string());
    std::ranges::sort(found);
    return found;
  }
};

TEST_F(PointInTimeRecoveryTest, ATableIsWhatItsLastCommitOfTheSecondMadeIt) {
  put_mail("a", 1);
  put_mail("b", 1);
  clock().advance(milliseconds(999));
  put_mail("a", 2);  // still in the first second
  clock().advance(milliseconds(1));
  put_mail("a", 3);
  delete_mail("b");
  put_mail("c", 1);
  clock().advance(seconds(1));
  put_mail("a", 4);
  restore("first", engine_test_start);
  restore("second", engine_test_start + seconds(1));
  restore("second-too", engine_test_start + milliseconds(1'999));
  restore("third", engine_test_start + seconds(2));
  EXPECT_THAT(mails("first"), ElementsAre("a2", "b1"));
  EXPECT_THAT(mails("second"), ElementsAre("a3", "c1"));
  EXPECT_THAT(mails("second-too"), ElementsAre("a3", "c1"));
  EXPECT_THAT(mails("third"), ElementsAre("a4", "c1"));
}

TEST_F(PointInTimeRecoveryTest, WhatWasThereBeforeItWasEnabledIsRestored) {
  ASSERT_TRUE(store().update_continuous_backups("mails", {.enabled = false}));
  put_mail("old", 1);
  protect();
  clock().advance(seconds(1));
  put_mail("old", 2);
  restore("copy", engine_test_start);
  EXPECT_THAT(mails("copy"), ElementsAre("old1"));
}

// What is written after the request belongs to a later second.
TEST_F(PointInTimeRecoveryTest, TheSecondThatIsNotOverCanBeRestored) {
  put_mail("a", 1);
  const auto made = store().restore_table_to_point_in_time(request_to("latest"));
  ASSERT_EQ(outcome(made), "ok");
  EXPECT_EQ(made->restore->time, engine_test_start);
  put_mail("a", 2);
  put_mail("b", 1);
  finish();
  EXPECT_THAT(mails("latest"), ElementsAre("a1"));
  reopen();
  restore("again", engine_test_start);
  EXPECT_THAT(mails("again"), ElementsAre("a1"));
  restore("later", engine_test_start + seconds(1));
  EXPECT_THAT(mails("later"), ElementsAre("a2", "b1"));
}

TEST_F(PointInTimeRecoveryTest, ATableIsBeingCreatedUntilItHasEverything) {
  put_mail("a", 1);
  const auto made = store().restore_table_to_point_in_time(request_to("copy", engine_test_start));
  ASSERT_EQ(outcome(made), "ok");
  EXPECT_EQ(made->status, TableStatus::creating);
  EXPECT_EQ(made->restore, (store::RestoreSummary{std::nullopt, "arn:aws:dynamodb:us-east-1:000000000000:table/mails",
                                                  engine_test_start, true}));
  EXPECT_EQ(get("copy", R"({"pk":{"S":"a"}})"), "ResourceNotFoundException: Requested resource not found");
  const std::string busy =
      "ResourceInUseException: Attempt to change a resource which is still in use: Table is being created: copy";
  EXPECT_EQ(outcome(store().delete_table("copy")), busy);
  EXPECT_EQ(outcome(store().create_table(table("copy", "pk:S"))), busy);
  EXPECT_EQ(outcome(store().restore_table_to_point_in_time(request_to("copy"))),
            "TableInUseException: Table: copy is already being restored from table: "
            "arn:aws:dynamodb:us-east-1:000000000000:table/mails");
  finish();
  const auto described = store().describe_table("copy");
  EXPECT_EQ(described->status, TableStatus::active);
  EXPECT_FALSE(described->restore);
  EXPECT_EQ(described->item_count, 1);
  EXPECT_EQ(outcome(store().restore_table_to_point_in_time(request_to("copy"))),
            "TableAlreadyExistsException: Table already exists: copy");
}

TEST_F(PointInTimeRecoveryTest, ErrorsAreDynamoDbs) {
  const auto refused = [&](const store::RestoreToPointInTimeRequest& request) {
    return outcome(store().restore_table_to_point_in_time(request));
  };
  store::RestoreToPointInTimeRequest request = request_to("copy");
  request.source_table_name = "none";
  EXPECT_EQ(refused(request), "TableNotFoundException: Table not found: none");
  request.source_table_name = std::nullopt;
  request.source_table_arn = "arn:aws:dynamodb:us-east-1:000000000000:table/mails";
  EXPECT_EQ(refused(request), "ok");
  request.source_table_arn = "arn:aws:dynamodb:eu-west-1:000000000000:table/mails";
  EXPECT_EQ(refused(request), "TableNotFoundException: Table not found: " + *request.source_table_arn);
  request = request_to("other", engine_test_start);
  request.use_latest_time = true;
  const std::string one_time =
      "ValidationException: Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be "
      "specified, but not both";
  EXPECT_EQ(refused(request), one_time);
  request.use_latest_time = false;
  request.time.reset();
  EXPECT_EQ(refused(request), one_time);
  EXPECT_EQ(refused(request_to("other", engine_test_start - seconds(1))),
            "InvalidRestoreTimeException: Invalid Request: RestoreDateTime must be between EarliestRestorableDateTime "
            "2026-01-02T03:04:05.000Z and LatestRestorableDateTime 2026-01-02T03:04:05.000Z");
  EXPECT_EQ(
      outcome(store().restore_table_to_point_in_time(request_to("other", engine_test_start + hours(1)))).substr(0, 27),
      "InvalidRestoreTimeException");
  create(table("plain", "pk:S"));
  request = request_to("other");
  request.source_table_name = "plain";
  EXPECT_EQ(refused(request),
            "PointInTimeRecoveryUnavailableException: Point in time recovery is not enabled for table 'plain'");
}

TEST_F(PointInTimeRecoveryTest, IndexesAndBillingCanBeOverridden) {
  put_mail("a", 1);
  store::RestoreToPointInTimeRequest request = request_to("lean");
  request.overrides.global_indexes.emplace();
  request.overrides.billing_mode = store::BillingMode::provisioned;
  request.overrides.throughput = store::Throughput{5, 6};
  ASSERT_EQ(outcome(store().restore_table_to_point_in_time(request)), "ok");
  finish();
  const auto lean = store().describe_table("lean");
  EXPECT_THAT(lean->global_indexes, IsEmpty());
  EXPECT_EQ(lean->attribute_definitions.size(), 1u);
  EXPECT_EQ(lean->throughput.provisioned, (store::Throughput{5, 6}));
  EXPECT_THAT(mails("lean"), ElementsAre("a1"));

  store::CreateTableRequest wanted = table("unused", "pk:S");
  add_global_index(wanted, "by-state", "state:S", "pk:S");
  request = request_to("one-index");
  request.overrides.global_indexes = wanted.global_indexes;
  ASSERT_EQ(outcome(store().restore_table_to_point_in_time(request)), "ok");
  finish();
  EXPECT_THAT(check_table(store(), "one-index"), IsEmpty());
  EXPECT_EQ(store().describe_table("one-index")->global_indexes.at(0).item_count, 1);

  request.target_table_name = "other-index";
  request.overrides.global_indexes->at(0).projection.type = store::ProjectionType::keys_only;
  EXPECT_EQ(outcome(store().restore_table_to_point_in_time(request)),
            "ValidationException: One or more parameter values were invalid: GlobalSecondaryIndexOverride must match "
            "the indexes of the source table. Index: by-state");
}

TEST_F(PointInTimeRecoveryTest, SettingsOfTheSourceAreLeftBehind) {
  ASSERT_TRUE(store().update_time_to_live("mails", {"expires", true}));
  ASSERT_TRUE(store().tag_resource("arn:aws:dynamodb:us-east-1:000000000000:table/mails", {{"team", "mail"}}));
  store::UpdateTableRequest change;
  change.table_name = "mails";
  change.deletion_protection = true;
  ASSERT_TRUE(store().update_table(change));
  restore("copy");
  EXPECT_EQ(store().describe_time_to_live("copy")->status, store::TimeToLiveStatus::disabled);
  EXPECT_THAT(store().list_tags_of_resource("arn:aws:dynamodb:us-east-1:000000000000:table/copy")->tags, IsEmpty());
  EXPECT_FALSE(store().describe_table("copy")->deletion_protection);
  EXPECT_FALSE(store().describe_continuous_backups("copy")->enabled);
}

TEST_F(PointInTimeRecoveryTest, EveryKindOfWriteCanBeUndone) {
  ASSERT_TRUE(store().update_time_to_live("mails", {"expires", true}));
  put("mails", R"({"pk":{"S":"expiring"},"v":{"N":"1"},"expires":{"N":"1767323050"}})");
  for (const char* pk : {"updated", "batched", "transacted"}) put_mail(pk, 1);
  clock().advance(seconds(1));
  const base::TimePoint before = clock().now();
  clock().advance(hours(1));
  store::UpdateItemRequest update{.table_name = "mails", .key = json(R"({"pk":{"S":"updated"}})")};
  update.update = store::UpdateExpression("SET v = :v");
  update.placeholders = placeholders("", R"({":v":{"N":"2"}})");
  ASSERT_EQ(outcome(store().update_item(update)), "ok");
  store::BatchWriteItemRequest batch;
  batch.tables.push_back({"mails", {store::BatchDelete{json(R"({"pk":{"S":"batched"}})")}}});
  ASSERT_EQ(outcome(store().batch_write_item(batch)), "ok");
  store::TransactWriteItemsRequest transaction;
  store::TransactDelete removal;
  removal.table_name = "mails";
  removal.key = json(R"({"pk":{"S":"transacted"}})");
  transaction.actions.emplace_back(removal);
  ASSERT_EQ(outcome(store().transact_write_items(transaction)), "ok");
  engine().guard_expiry([](const std::string&, const item::Item&) { return true; });
  finish();
  EXPECT_THAT(mails("mails"), ElementsAre("updated2"));
  restore("copy", before);
  EXPECT_THAT(mails("copy"), ElementsAre("batched1", "expiring1", "transacted1", "updated1"));
}

// A thousand changes do not fit into a memory of a few kilobytes: they are walked over several times.
TEST_F(PointInTimeRecoveryTest, WhatWasChangedNeedNotFitIntoMemory) {
  options_.restore_bytes = 4 << 10;
  reopen();
  std::vector<std::string> expected;
  for (int i = 0; i < 1'000; ++i) put_mail("mail" + std::to_string(i), 1);
  for (int i = 0; i < 1'000; ++i) expected.push_back("mail" + std::to_string(i) + "1");
  std::ranges::sort(expected);
  clock().advance(seconds(1));
  for (int i = 0; i < 1'500; ++i)
    i % 3 == 0 ? delete_mail("mail" + std::to_string(i)) : put_mail("mail" + std::to_string(i), 2);
  restore("copy", engine_test_start);
  EXPECT_EQ(mails("copy"), expected);
}

// Items that are written meanwhile are not in it, and it goes on where it was.
TEST_F(PointInTimeRecoveryTest, ARestoreGoesOnAfterTheStoreWasClosed) {
  const std::string filler(4'000, 'x');
  for (int i = 0; i < 6'000; ++i)
    put("mails", R"({"pk":{"S":")" + std::to_string(i) + R"("},"state":{"S":"new"},"v":{"N":"1"},"filler":{"S":")" +
                     filler + "\"}}");
  const std::vector<std::string> expected = mails("mails");
  ASSERT_EQ(outcome(store().restore_table_to_point_in_time(request_to("copy"))), "ok");
  bool is_there = false;
  int openings = 0;
  for (; !is_there; ++openings) {
    ASSERT_LT(openings, 100);
    put_mail(std::to_string(openings), 2);
    delete_mail(std::to_string(5'000 + openings));
    ASSERT_EQ(outcome(engine().run_maintenance_once()), "ok");
    reopen();
    is_there = store().describe_table("copy")->status == TableStatus::active;
  }
  EXPECT_GT(openings, 2);
  EXPECT_EQ(mails("copy"), expected);
  EXPECT_THAT(check_table(store(), "copy"), IsEmpty());
}

TEST_F(PointInTimeRecoveryTest, WithRealisticTimingTheLastFiveMinutesCannotBeRestored) {
  options_.realistic_timing = true;
  reopen();
  clock().advance(hours(1));
  const auto description = store().describe_continuous_backups("mails");
  EXPECT_EQ(description->latest_restorable, engine_test_start + std::chrono::minutes(55));
}

}  // namespace
}  // namespace postino::engine
