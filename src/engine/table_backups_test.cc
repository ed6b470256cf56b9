#include <iostream>
#include <map>
#include <random>

#include "base/effort_testing.h"
#include "engine/consistency_testing.h"
#include "engine/engine_testing.h"
#include "item/json_codec.h"

namespace postino::engine {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using store::BackupStatus;
using store::BackupType;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

std::string quoted_text(const std::string& text) { return R"({"S":")" + text + "\"}"; }

class TableBackupsTest : public EngineTest {
 protected:
  TableBackupsTest() {
    store::CreateTableRequest request = table("mails", "pk:S");
    add_global_index(request, "by-state", "state:S", "pk:S");
    create(request);
  }

  store::TableBackups& backups() { return *store().table_backups(); }
  void put_mail(const std::string& pk, const std::string& state) {
    put("mails", R"({"pk":)" + quoted_text(pk) + R"(,"state":)" + quoted_text(state) + "}");
  }
  void finish() {
    while (true) {
      const auto more = engine().run_maintenance_once();
      ASSERT_EQ(outcome(more), "ok");
      if (!*more) return;
    }
  }
  std::string back_up(const std::string& name = "nightly") {
    const auto made = backups().create_backup("mails", name);
    EXPECT_EQ(outcome(made), "ok");
    return made ? made->arn : "";
  }
  std::string back_up_whole() {
    const std::string arn = back_up();
    finish();
    return arn;
  }
  BackupStatus status(const std::string& arn) { return backups().describe_backup(arn)->backup.status; }
  store::Answer<store::TableDescription> restore(const std::string& arn, const std::string& target = "copy") {
    return backups().restore_table_from_backup({arn, target, {}});
  }
  // The states of all mails, in the order of their keys.
  std::vector<std::string> mails(const std::string& table_name) {
    std::map<std::string, std::string> found;
    for (const item::Item& item : scan_everything(store(), table_name))
      found[item.find("pk")->as<std::string>()] = item.find("state")->as<std::string>();
    std::vector<std::string> texts;
    for (const auto& [pk, state] : found) texts.push_back(pk + "=" + state);
    return texts;
  }
  std::vector<std::string> listed(const store::ListBackupsRequest& request = {}) {
    std::vector<std::string> names;
    const auto found = backups().list_backups(request);
    for (const store::BackupSummary& backup : found->backups) names.push_back(backup.name);
    return names;
  }
  std::string deleted_table_backup() {
    store::ListBackupsRequest request;
    request.type = BackupType::system;
    const auto found = backups().list_backups(request);
    EXPECT_EQ(found->backups.size(), 1U);
    return found->backups.empty() ? "" : found->backups.front().arn;
  }
};

TEST_F(TableBackupsTest, IsWhatTheTableWasWhenItWasAskedFor) {
  put_mail("a", "new");
  put_mail("b", "new");
  const std::string arn = back_up();
  EXPECT_THAT(arn,
              MatchesRegex("arn:aws:dynamodb:us-east-1:000000000000:table/mails/backup/01767323045000-[0-9a-f]{8}"));
  EXPECT_EQ(status(arn), BackupStatus::creating);
  put_mail("a", "sent");
  put_mail("c", "new");
  ASSERT_TRUE(store().delete_item({.table_name = "mails", .key = json(R"({"pk":{"S":"b"}})")}));
  finish();
  EXPECT_EQ(status(arn), BackupStatus::available);
  put_mail("d", "new");
  ASSERT_EQ(outcome(restore(arn)), "ok");
  finish();
  EXPECT_THAT(mails("copy"), ElementsAre("a=new", "b=new"));
  EXPECT_THAT(check_table(store(), "copy"), IsEmpty());
  EXPECT_THAT(mails("mails"), ElementsAre("a=sent", "c=new", "d=new"));
}

TEST_F(TableBackupsTest, SeveralOfOneMomentAreEachTheirOwn) {
  put_mail("a", "1");
  const std::string first = back_up();
  put_mail("a", "2");
  const std::string second = back_up();
  put_mail("a", "3");
  reopen();
  finish();
  ASSERT_EQ(outcome(restore(first, "one")), "ok");
  ASSERT_EQ(outcome(restore(second, "two")), "ok");
  finish();
  EXPECT_THAT(mails("one"), ElementsAre("a=1"));
  EXPECT_THAT(mails("two"), ElementsAre("a=2"));
}

TEST_F(TableBackupsTest, DescribesItselfAndItsTable) {
  ASSERT_TRUE(store().update_time_to_live("mails", {"ttl", true}));
  put_mail("a", "new");
  const std::string arn = back_up_whole();
  ASSERT_TRUE(store().delete_table("mails"));
  const store::BackupDescription description = backups().describe_backup(arn).value();
  EXPECT_EQ(description.backup.name, "nightly");
  EXPECT_EQ(description.backup.type, BackupType::user);
  EXPECT_EQ(description.backup.created, engine_test_start);
  EXPECT_FALSE(description.backup.expires);
  EXPECT_GT(description.backup.size_bytes, 0);
  EXPECT_EQ(description.table.name, "mails");
  EXPECT_EQ(description.table.item_count, 1);
  EXPECT_EQ(description.table.billing_mode, store::BillingMode::pay_per_request);
  ASSERT_EQ(description.table.global_indexes.size(), 1U);
  EXPECT_EQ(description.table.global_indexes.front().name, "by-state");
  EXPECT_EQ(description.time_to_live_attribute, "ttl");
}

TEST_F(TableBackupsTest, ARestoreTellsItsSource) {
  const std::string arn = back_up_whole();
  const auto made = restore(arn);
  ASSERT_EQ(outcome(made), "ok");
  ASSERT_TRUE(made->restore);
  EXPECT_EQ(made->restore->source_backup_arn, arn);
  EXPECT_EQ(made->restore->source_table_arn, "arn:aws:dynamodb:us-east-1:000000000000:table/mails");
  EXPECT_EQ(made->restore->time, engine_test_start);
  EXPECT_TRUE(made->restore->in_progress);
  reopen();
  EXPECT_EQ(store().describe_table("copy")->restore, made->restore);
  finish();
  EXPECT_FALSE(store().describe_table("copy")->restore);
}

TEST_F(TableBackupsTest, OverridesLeaveIndexesOut) {
  put_mail("a", "new");
  store::RestoreFromBackupRequest request{back_up_whole(), "copy", {}};
  request.overrides.global_indexes = std::vector<store::GlobalIndexDefinition>();
  request.overrides.billing_mode = store::BillingMode::provisioned;
  request.overrides.throughput = store::Throughput{3, 4};
  ASSERT_EQ(outcome(backups().restore_table_from_backup(request)), "ok");
  finish();
  const store::TableDescription copy = store().describe_table("copy").value();
  EXPECT_THAT(copy.global_indexes, IsEmpty());
  EXPECT_EQ(copy.billing_mode, store::BillingMode::provisioned);
  EXPECT_EQ(copy.throughput.provisioned, (store::Throughput{3, 4}));
}

TEST_F(TableBackupsTest, TheTableStaysUntilItsBackupIsMade) {
  const std::string arn = back_up();
  EXPECT_EQ(
      outcome(store().delete_table("mails")),
      "ResourceInUseException: Attempt to change a resource which is still in use: A backup of the table is being "
      "created. Table: mails");
  EXPECT_EQ(outcome(backups().delete_backup(arn)), "BackupInUseException: Backup is being created: " + arn);
  EXPECT_EQ(outcome(restore(arn)), "BackupInUseException: Backup is being created: " + arn);
  finish();
  EXPECT_EQ(outcome(store().delete_table("mails")), "ok");
}

TEST_F(TableBackupsTest, FeedsOneRestoreAtATime) {
  const std::string arn = back_up_whole();
  ASSERT_EQ(outcome(restore(arn)), "ok");
  EXPECT_EQ(outcome(restore(arn, "second")),
            "BackupInUseException: Backup is being used to restore another table: " + arn);
  EXPECT_EQ(outcome(backups().delete_backup(arn)),
            "BackupInUseException: Backup is being used to restore another table: " + arn);
  finish();
  EXPECT_EQ(outcome(restore(arn)), "TableAlreadyExistsException: Table already exists: copy");
  EXPECT_EQ(outcome(restore(arn, "second")), "ok");
}

TEST_F(TableBackupsTest, ADeletedOneIsGone) {
  put_mail("a", "new");
  const std::string arn = back_up_whole();
  const auto deleted = backups().delete_backup(arn);
  ASSERT_EQ(outcome(deleted), "ok");
  EXPECT_EQ(deleted->backup.status, BackupStatus::deleted);
  for (const std::string& result :
       {outcome(backups().describe_backup(arn)), outcome(backups().delete_backup(arn)), outcome(restore(arn))})
    EXPECT_EQ(result, "BackupNotFoundException: Backup not found: " + arn);
  EXPECT_THAT(listed(), IsEmpty());
}

TEST_F(TableBackupsTest, AreListedInTheOrderTheyWereMade) {
  create(table("other", "pk:S"));
  std::vector<std::string> arns;
  for (const std::string name : {"one", "two", "three"}) {
    arns.push_back(back_up(name));
    clock().advance(seconds(1));
  }
  ASSERT_TRUE(backups().create_backup("other", "four"));
  finish();
  EXPECT_THAT(listed(), ElementsAre("one", "two", "three", "four"));
  store::ListBackupsRequest request;
  request.table_name = "other";
  EXPECT_THAT(listed(request), ElementsAre("four"));
  request = {};
  request.from = engine_test_start + seconds(1);
  request.until = engine_test_start + seconds(2);
  EXPECT_THAT(listed(request), ElementsAre("two"));
  request = {};
  request.limit = 2;
  EXPECT_EQ(backups().list_backups(request)->last_evaluated_arn, arns[1]);
  request.exclusive_start_arn = arns[1];
  EXPECT_THAT(listed(request), ElementsAre("three", "four"));
  EXPECT_FALSE(backups().list_backups(request)->last_evaluated_arn);
}

TEST_F(TableBackupsTest, Rules) {
  EXPECT_EQ(outcome(backups().create_backup("nothing", "name")), "TableNotFoundException: Table not found: nothing");
  EXPECT_EQ(outcome(backups().create_backup("mails", "no spaces")),
            "ValidationException: 1 validation error detected: Value 'no spaces' at 'backupName' failed to satisfy "
            "constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+");
  const std::string arn = "arn:aws:dynamodb:us-east-1:000000000000:table/mails/backup/01767323045000-00000000";
  EXPECT_EQ(outcome(backups().describe_backup(arn)), "BackupNotFoundException: Backup not found: " + arn);
  const std::string other = back_up_whole();
  std::string elsewhere = other;
  elsewhere.replace(elsewhere.find("us-east-1"), 9, "eu-west-1");
  EXPECT_EQ(outcome(backups().describe_backup(elsewhere)), "BackupNotFoundException: Backup not found: " + elsewhere);
}

TEST_F(TableBackupsTest, ATableWithPointInTimeRecoveryLeavesOneThatIsKeptFor35Days) {
  ASSERT_TRUE(store().update_continuous_backups("mails", {.enabled = true}));
  put_mail("a", "new");
  put_mail("b", "new");
  ASSERT_TRUE(store().delete_table("mails"));
  const std::string arn = deleted_table_backup();
  const store::BackupDescription left = backups().describe_backup(arn).value();
  EXPECT_EQ(left.backup.name, "mails$DeletedTableBackup");
  EXPECT_EQ(left.backup.type, BackupType::system);
  EXPECT_EQ(left.backup.expires, engine_test_start + days(35));
  EXPECT_EQ(left.table.item_count, 2);
  EXPECT_THAT(listed(), IsEmpty());
  // Another one of the same name has nothing to do with it.
  create(table("mails", "pk:S"));
  put_mail("c", "other");
  reopen();
  ASSERT_EQ(outcome(restore(arn)), "ok");
  finish();
  EXPECT_THAT(mails("copy"), ElementsAre("a=new", "b=new"));
  EXPECT_THAT(check_table(store(), "copy"), IsEmpty());
  // A clock that has gone ahead by days is not believed at once.
  clock().advance(days(35) - hours(2));
  finish();
  clock().advance(hours(2) - seconds(1));
  finish();
  EXPECT_EQ(status(arn), BackupStatus::available);
  clock().advance(seconds(1));
  finish();
  EXPECT_EQ(outcome(backups().describe_backup(arn)), "BackupNotFoundException: Backup not found: " + arn);
  EXPECT_THAT(mails("mails"), ElementsAre("c=other"));
}

TEST_F(TableBackupsTest, OtherTablesLeaveNone) {
  ASSERT_TRUE(store().delete_table("mails"));
  store::ListBackupsRequest request;
  request.type = std::nullopt;
  EXPECT_THAT(listed(request), IsEmpty());
}

class DelayedDeletionTest : public TableBackupsTest {
 protected:
  DelayedDeletionTest() {
    options_.deletion_delay = hours(24);
    reopen();
  }
};

TEST_F(DelayedDeletionTest, WhatWasDeletedCanBeRestoredForAWhile) {
  put_mail("a", "new");
  const std::string arn = back_up_whole();
  ASSERT_TRUE(backups().delete_backup(arn));
  ASSERT_TRUE(store().delete_table("mails"));
  EXPECT_THAT(listed(), IsEmpty());
  EXPECT_EQ(outcome(backups().delete_backup(arn)), "BackupNotFoundException: Backup not found: " + arn);
  clock().advance(hours(24) - seconds(1));
  reopen();
  finish();
  EXPECT_EQ(status(arn), BackupStatus::deleted);
  ASSERT_EQ(outcome(restore(arn, "one")), "ok");
  ASSERT_EQ(outcome(restore(deleted_table_backup(), "two")), "ok");
  finish();
  EXPECT_THAT(mails("one"), ElementsAre("a=new"));
  EXPECT_THAT(mails("two"), ElementsAre("a=new"));
  clock().advance(seconds(1));
  finish();
  EXPECT_EQ(outcome(backups().describe_backup(arn)), "BackupNotFoundException: Backup not found: " + arn);
  store::ListBackupsRequest request;
  request.type = std::nullopt;
  EXPECT_THAT(listed(request), IsEmpty());
}

// Random writes, with backups of several tables that are made and restored while work goes on.
class BackupModelTest : public EngineTest {
 protected:
  using Contents = std::map<std::string, std::string>;
  struct Kept {
    std::string arn;
    Contents contents;
  };

  BackupModelTest() {
    options_.restore_bytes = 2 << 10;
    reopen();
    for (const std::string name : {"one", "two"}) {
      store::CreateTableRequest request = table(name, "pk:S");
      add_global_index(request, "colors", "color:S");
      create(request);
    }
    EXPECT_TRUE(store().update_continuous_backups("two", {.enabled = true}));
  }

  std::size_t pick(std::size_t count) { return random_() % count; }
  std::string some_table() { return pick(2) == 0 ? "one" : "two"; }
  void write_some() {
    const std::string name = some_table();
    item::Item item{{"pk", "p" + std::to_string(pick(60))}};
    const std::string key = item.find("pk")->as<std::string>();
    if (pick(4) == 0) {
      ASSERT_TRUE(store().delete_item({.table_name = name, .key = {{"pk", key}}}));
      latest_[name].erase(key);
      return;
    }
    item.set("color", pick(2) == 0 ? "red" : "blue");
    item.set("stamp", static_cast<std::int64_t>(++stamp_));
    if (pick(6) == 0) item.set("long", std::string(pick(900), 'x'));
    ASSERT_TRUE(store().put_item({.table_name = name, .item = item}));
    latest_[name][key] = item::to_json(item);
  }
  void back_up() {
    const std::string name = some_table();
    const auto made = store().table_backups()->create_backup(name, "backup");
    ASSERT_EQ(outcome(made), "ok");
    kept_.push_back({made->arn, latest_[name]});
  }
  void delete_and_create() {
    clock().advance(milliseconds(1));  // so that backups have different times
    const auto deleted = store().delete_table("two");
    if (!deleted) return;  // a backup of it is being made
    store::ListBackupsRequest request;
    request.type = BackupType::system;
    kept_.push_back({store().table_backups()->list_backups(request)->backups.back().arn, latest_["two"]});
    latest_["two"].clear();
    store::CreateTableRequest again = table("two", "pk:S");
    add_global_index(again, "colors", "color:S");
    create(again);
    ASSERT_TRUE(store().update_continuous_backups("two", {.enabled = true}));
  }
  void step() {
    clock().advance(milliseconds(pick(300)));
    switch (pick(25)) {
      case 0:
        return back_up();
      case 1:
        return reopen();
      case 2:
        ASSERT_EQ(outcome(engine().run_maintenance_once()), "ok");
        return;
      case 3:
        if (pick(8) == 0) delete_and_create();
        return;
      default:
        return write_some();
    }
  }
  bool has_work() {
    const auto more = engine().run_maintenance_once();
    EXPECT_EQ(outcome(more), "ok");
    return more.value_or(false);
  }
  void restore_all() {
    while (has_work()) write_some();
    for (const Kept& kept : kept_) {
      ASSERT_EQ(outcome(store().table_backups()->restore_table_from_backup({kept.arn, "copy", {}})), "ok");
      while (has_work()) {
        write_some();
        if (pick(4) == 0) reopen();
      }
      Contents found;
      for (const item::Item& item : scan_everything(store(), "copy"))
        found[item.find("pk")->as<std::string>()] = item::to_json(item);
      EXPECT_EQ(found, kept.contents) << kept.arn;
      EXPECT_THAT(check_table(store(), "copy"), IsEmpty());
      ASSERT_TRUE(store().delete_table("copy"));
      ASSERT_EQ(outcome(store().table_backups()->delete_backup(kept.arn)), "ok");
    }
    kept_.clear();
  }

  const std::uint64_t seed_ = std::random_device()();
  const testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
  std::mt19937_64 random_{seed_};
  std::int64_t stamp_ = 0;
  std::map<std::string, Contents> latest_;
  std::vector<Kept> kept_;
};

TEST_F(BackupModelTest, EveryBackupIsWhatItsTableWas) {
  std::cout << "seed " << seed_ << '\n';
  for (int round = 0; round < 10 * base::test_effort() && !HasFailure(); ++round) {
    for (int i = 0; i < 120 && !HasFailure(); ++i) step();
    restore_all();
  }
}

}  // namespace
}  // namespace postino::engine
