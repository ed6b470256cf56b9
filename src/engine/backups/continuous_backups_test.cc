#include "engine/backups/backup_operations.h"
#include "engine/core_tables_testing.h"
#include "engine/storage/keys.h"
#include "engine/tables/table_operations.h"
#include "engine/upkeep/undo_trimmer.h"

namespace postino::engine {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using store::ErrorType;

constexpr base::TimePoint first_second = std::chrono::floor<seconds>(test_start);

class ContinuousBackupsTest : public CoreTablesTest {
 protected:
  ContinuousBackupsTest() { create_table("abc"); }
  BackupOperations backups() { return BackupOperations(core()); }
  store::Answer<store::PointInTimeRecoveryDescription> protect(bool enabled, std::optional<int> period = {}) {
    return backups().update_continuous_backups("abc", {enabled, period});
  }
  store::Answer<store::TableDescription> restore(const std::string& target, base::TimePoint time) {
    store::RestoreToPointInTimeRequest request;
    request.source_table_name = "abc";
    request.target_table_name = target;
    request.time = time;
    return backups().restore_to_point_in_time(request);
  }
  std::size_t records() { return stored_keys(Family::undo, table("abc")->id).size(); }
  void trim() { ASSERT_EQ(outcome_of(UndoTrimmer(core()).run_once()), "ok"); }
  void put_one(const std::string& value) { put("abc", R"({"pk":{"S":"one"},"v":{"S":")" + value + "\"}}"); }
};

TEST_F(ContinuousBackupsTest, AreOffAtFirst) {
  const store::PointInTimeRecoveryDescription description = backups().describe_continuous_backups("abc").value();
  EXPECT_FALSE(description.enabled);
  EXPECT_FALSE(description.earliest_restorable);
  EXPECT_FALSE(description.latest_restorable);
}

TEST_F(ContinuousBackupsTest, TheWindowGrowsFromTheMomentItIsEnabled) {
  store::PointInTimeRecoveryDescription description = protect(true).value();
  EXPECT_TRUE(description.enabled);
  EXPECT_EQ(description.recovery_period_days, 35);
  EXPECT_EQ(description.earliest_restorable, first_second);
  EXPECT_EQ(description.latest_restorable, first_second);
  clock().advance(minutes(10));
  description = backups().describe_continuous_backups("abc").value();
  EXPECT_EQ(description.earliest_restorable, first_second);
  EXPECT_EQ(description.latest_restorable, first_second + minutes(10));
  reopen();
  clock().advance(days(40));
  description = backups().describe_continuous_backups("abc").value();
  EXPECT_EQ(description.earliest_restorable, first_second + minutes(10) + days(5));
  EXPECT_EQ(description.latest_restorable, first_second + minutes(10) + days(40));
}

TEST_F(ContinuousBackupsTest, TheRecoveryPeriodCanBeShortened) {
  ASSERT_TRUE(protect(true));
  clock().advance(days(10));
  const store::PointInTimeRecoveryDescription description = protect(true, 7).value();
  EXPECT_EQ(description.recovery_period_days, 7);
  EXPECT_EQ(description.earliest_restorable, first_second + days(3));
  ASSERT_TRUE(protect(false));
  EXPECT_FALSE(backups().describe_continuous_backups("abc")->enabled);
  EXPECT_EQ(protect(true)->earliest_restorable, first_second + days(10));
}

TEST_F(ContinuousBackupsTest, RecoveryRules) {
  EXPECT_EQ(protect(true, 36).error().message,
            "1 validation error detected: Value '36' at 'pointInTimeRecoverySpecification.recoveryPeriodInDays' failed "
            "to satisfy constraint: Member must have value less than or equal to 35");
  EXPECT_EQ(protect(true, 0).error().message,
            "1 validation error detected: Value '0' at 'pointInTimeRecoverySpecification.recoveryPeriodInDays' failed "
            "to satisfy constraint: Member must have value greater than or equal to 1");
  EXPECT_EQ(protect(false, 7).error().message,
            "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery.");
  const store::Error missing = backups().update_continuous_backups("nope", {true, {}}).error();
  EXPECT_EQ(missing.type, ErrorType::table_not_found);
  EXPECT_EQ(store::error_name(missing.type), "TableNotFoundException");
  EXPECT_EQ(missing.message, "Table not found: nope");
  EXPECT_EQ(backups().describe_continuous_backups("nope").error().message, "Table not found: nope");
}

TEST_F(ContinuousBackupsTest, WritesOfATableWithoutThemLeaveNoRecords) {
  put_one("a");
  EXPECT_EQ(records(), 0u);
  ASSERT_TRUE(protect(true));
  put_one("a");  // changes nothing
  EXPECT_EQ(records(), 0u);
  put_one("b");
  remove("abc", "one");
  EXPECT_EQ(records(), 2u);
  ASSERT_TRUE(protect(false));
  EXPECT_EQ(records(), 0u);
}

// It was a setting then: what was written has no records.
TEST_F(ContinuousBackupsTest, OfAnEarlierVersionBeginWithTheStart) {
  put_one("a");
  ASSERT_EQ(outcome_of(core().change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
              Table changed = *table("abc");
              changed.recovery = PointInTimeRecovery{base::TimePoint(), 35, {}};
              put_table(state, entry, std::move(changed));
              return {};
            })),
            "ok");
  clock().advance(hours(1));
  reopen();
  EXPECT_EQ(backups().describe_continuous_backups("abc")->earliest_restorable, first_second + hours(1));
  clock().advance(hours(1));
  reopen();
  EXPECT_EQ(backups().describe_continuous_backups("abc")->earliest_restorable, first_second + hours(1));
  EXPECT_EQ(restore("copy", first_second).error().type, ErrorType::invalid_restore_time);
}

TEST_F(ContinuousBackupsTest, RecordsGoWithTheirTable) {
  ASSERT_TRUE(protect(true));
  put_one("a");
  const ObjectId id = table("abc")->id;
  delete_table("abc");
  EXPECT_EQ(stored_keys(Family::undo, id).size(), 0u);
}

TEST_F(ContinuousBackupsTest, RecordsGoWhenTheirPeriodIsOver) {
  ASSERT_TRUE(protect(true, 1));
  put_one("a");
  clock().advance(hours(1));
  put_one("b");
  clock().advance(hours(23) + minutes(9));
  trim();
  EXPECT_EQ(records(), 2u);  // they wait until it is worth it
  clock().advance(minutes(2));
  trim();
  EXPECT_EQ(records(), 1u);
  clock().advance(hours(1));
  trim();
  EXPECT_EQ(records(), 0u);
}

// Otherwise a table would seem to have been what it never was.
TEST_F(ContinuousBackupsTest, WhatIsTrimmedCannotBeRestoredAfterTheClockWentBack) {
  ASSERT_TRUE(protect(true, 1));
  put_one("a");
  clock().advance(hours(30));
  trim();
  const base::TimePoint trimmed = backups().describe_continuous_backups("abc")->earliest_restorable.value();
  EXPECT_EQ(trimmed, first_second + hours(6));
  clock().set_by(-hours(29));
  EXPECT_EQ(backups().describe_continuous_backups("abc")->earliest_restorable, trimmed);
  reopen();
  EXPECT_EQ(backups().describe_continuous_backups("abc")->earliest_restorable, trimmed);
  EXPECT_EQ(restore("copy", trimmed - seconds(1)).error().type, ErrorType::invalid_restore_time);
}

TEST_F(ContinuousBackupsTest, TimesOfCommitsNeverGoBack) {
  ASSERT_TRUE(protect(true));
  put_one("a");
  clock().set_by(-hours(1));
  put_one("b");
  reopen();
  put_one("c");
  std::int64_t last = 0;
  for (const std::string& key : stored_keys(Family::undo, table("abc")->id)) {
    const UndoPlace place = parse_undo_key(key).value();
    EXPECT_GE(place.time, last);
    last = place.time;
  }
  EXPECT_EQ(records(), 3u);
  EXPECT_EQ(last, base::epoch_milliseconds(test_start));
}

TEST_F(ContinuousBackupsTest, AreKeptWhileATableIsRestored) {
  ASSERT_TRUE(protect(true, 1));
  put_one("a");
  clock().advance(hours(1));
  put_one("b");
  ASSERT_TRUE(restore("copy", first_second));
  EXPECT_EQ(outcome_of(protect(false)),
            "ContinuousBackupsUnavailableException: Table copy is being restored from the table: abc. Please retry "
            "later");
  EXPECT_EQ(outcome_of(TableOperations(core()).remove("abc")),
            "ResourceInUseException: Attempt to change a resource which is still in use: Table is being restored from. "
            "Table: abc Restored: copy");
  clock().advance(days(30));
  trim();
  EXPECT_EQ(records(), 2u);
}

}  // namespace
}  // namespace postino::engine
