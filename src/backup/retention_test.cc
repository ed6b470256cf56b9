#include "backup/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backup/place_lock.h"
#include "backup/place_testing.h"

namespace postino::backup {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr base::Milliseconds a_day = std::chrono::hours(24);
base::Result<void> go_on() { return {}; }

class RetentionTest : public BackupTest {
 protected:
  // Backups of files of their own, each a day after the one before.
  std::vector<Manifest> write_daily(int count) {
    std::vector<Manifest> written;
    for (int i = 0; i < count; ++i) {
      put_file("changing", contents_of(1'000 + i, 300'000));
      written.push_back(write());
      clock_.advance(a_day);
    }
    return written;
  }
  std::vector<std::string> expired(base::Milliseconds keep) {
    const auto listed = list_backups(place_, std::nullopt);
    return expired_backups(*listed, clock_.now(), keep);
  }
  void judge(const std::string& id, bool sound) {
    ASSERT_TRUE(BackupReader::open(place_, id, std::nullopt)->note({clock_.now(), sound, ""}, random_));
  }
};

TEST_F(RetentionTest, TakesThoseThatAreOld) {
  const auto written = write_daily(6);
  EXPECT_THAT(expired(5 * a_day), ElementsAre(written[0].id));
  EXPECT_THAT(expired(30 * a_day), IsEmpty());
}

TEST_F(RetentionTest, LeavesTheLastThreeAndTheLastSoundOneWhateverTheClockSays) {
  const auto written = write_daily(6);
  judge(written[0].id, true);
  judge(written[1].id, true);
  judge(written[5].id, false);
  clock_.set_by(1'000 * a_day);
  EXPECT_THAT(expired(30 * a_day), ElementsAre(written[0].id, written[2].id));
}

TEST_F(RetentionTest, GoesByNumbersWhenTheClockWentBack) {
  auto written = write_daily(3);
  clock_.set_by(-100 * a_day);
  for (Manifest& each : write_daily(3)) written.push_back(std::move(each));
  clock_.set_by(1'000 * a_day);
  EXPECT_THAT(expired(30 * a_day), ElementsAre(written[0].id, written[1].id, written[2].id));
}

TEST_F(RetentionTest, RemovesChunksThatNoBackupUses) {
  put_file("staying", contents_of(1, 300'000));
  const auto written = write_daily(3);
  const auto removed = remove_backups(place_, {written[0].id}, std::nullopt, go_on);
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->chunks, 2u) << "a file and a list of files";
  EXPECT_THAT(error_of(BackupReader::open(place_, written[0].id, std::nullopt)), HasSubstr("there is no backup"));
  EXPECT_TRUE(verify_backup(place_, written[1].id, std::nullopt)->sound());
  EXPECT_TRUE(verify_backup(place_, written[2].id, std::nullopt)->sound());
}

TEST_F(RetentionTest, LeavesAllChunksWhenABackupCannotBeRead) {
  const auto written = write_daily(3);
  ASSERT_TRUE(place_.put("backups/" + written[1].id, "damaged"));
  const std::size_t chunks = objects_.names("mine/chunks/").size();
  const auto removed = remove_backups(place_, {written[0].id}, std::nullopt, go_on);
  EXPECT_THAT(removed->left_because, HasSubstr(written[1].id));
  EXPECT_EQ(objects_.names("mine/chunks/").size(), chunks);
}

TEST_F(RetentionTest, KeepsWhatPlainBackupsUseBesideSealedOnes) {
  put_file("a", contents_of(1, 300'000));
  const Manifest plain = write();
  const Manifest sealed = write(master_key('a'));
  EXPECT_TRUE(remove_backups(place_, {}, master_key('a'), go_on));
  EXPECT_TRUE(verify_backup(place_, plain.id, std::nullopt)->sound());
  EXPECT_TRUE(verify_backup(place_, sealed.id, master_key('a'))->sound());
}

// Whichever removal fails, what is left is whole, and the next one does the rest.
TEST_F(RetentionTest, MayEndAnywhere) {
  using Fault = objects::MemoryObjects::Fault;
  for (int number = 1;; ++number) {
    const auto written = write_daily(2);
    objects_.fail_at(number, Fault::ended_after);
    static_cast<void>(remove_backups(place_, {written[0].id}, std::nullopt, go_on));
    const bool has_failed = objects_.has_failed();
    objects_.fail_at(0, Fault::none);
    const auto listed = list_backups(place_, std::nullopt);
    for (const ListedBackup& each : *listed) EXPECT_TRUE(verify_backup(place_, each.id, std::nullopt)->sound());
    EXPECT_TRUE(remove_backups(place_, {written[0].id}, std::nullopt, go_on));
    if (!has_failed) break;
  }
}

TEST_F(RetentionTest, LocksThePlace) {
  auto first = PlaceLock::take(place_, "a backup", "one store", clock_, random_);
  ASSERT_TRUE(first);
  EXPECT_THAT(error_of(PlaceLock::take(place_, "a removal", "another store", clock_, random_)),
              HasSubstr("in use: a backup (since 2026-01-02T03:04:05.000Z"));
  { const PlaceLock ended = *std::move(first); }
  EXPECT_TRUE(PlaceLock::take(place_, "a removal", "another store", clock_, random_));
  EXPECT_THAT(objects_.names("mine/locks/"), IsEmpty());
}

TEST_F(RetentionTest, TakesOverTheLockOfAProcessThatEnded) {
  auto first = PlaceLock::take(place_, "a backup", "one store", clock_, random_);
  EXPECT_TRUE(PlaceLock::take(place_, "a backup", "one store", clock_, random_)) << "of the same store";
  auto second = PlaceLock::take(place_, "a backup", "one store", clock_, random_);
  clock_.advance(std::chrono::minutes(2));
  ASSERT_TRUE(second->renew());
  clock_.advance(std::chrono::minutes(2));
  EXPECT_FALSE(PlaceLock::take(place_, "a backup", "another store", clock_, random_)) << "it is renewed";
  clock_.advance(std::chrono::minutes(4));
  auto third = PlaceLock::take(place_, "a backup", "another store", clock_, random_);
  ASSERT_TRUE(third);
  EXPECT_THAT(error_of(second->renew()), HasSubstr("another process has taken over"));
}

}  // namespace
}  // namespace postino::backup
