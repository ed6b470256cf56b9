#include "app/backups/backup_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>

#include "app/backups/backup_files.h"
#include "base/temporary_directory.h"

namespace postino::app {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class BackupServiceTest : public testing::Test {
 protected:
  BackupServiceTest() {
    settings_.data = directory_.path() / "data";
    settings_.backups.place = (directory_.path() / "place").string();
    settings_.backups.every = base::Milliseconds(0);
    fs::create_directories(settings_.data);
    put_file(settings_.data / "POSTINO", "postino data format 1\n");
  }

  static void put_file(const fs::path& file, const std::string& contents) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::trunc) << contents;
  }

  void create() {
    BackupContext context{.make_checkpoint = [this](const fs::path& directory) -> base::Result<void> {
                            if (is_disk_full_) return base::fail(base::ErrorCode::io, "the disk is full");
                            put_file(directory / "store" / "CURRENT", "checkpoint " + std::to_string(++checkpoints_));
                            return {};
                          },
                          .tell_audit = [this](const std::string& action,
                                               const std::string& subject) { told_.push_back(action + " " + subject); },
                          .clock = clock_,
                          .program = "1"};
    service_.reset();
    auto created = BackupService::create(settings_, std::move(context));
    ASSERT_TRUE(created) << created.error().message;
    service_ = *std::move(created);
    service_->start();
  }
  backup::BackupState await_end() {
    while (true)
      if (backup::BackupState state = service_->state(); state.doing.empty()) return state;
  }
  backup::BackupState make() {
    EXPECT_TRUE(service_->begin());
    return await_end();
  }

  base::TemporaryDirectory directory_;
  Settings settings_;
  base::ManualClock clock_{base::TimePoint(std::chrono::seconds(1'767'323'045))};
  std::atomic<bool> is_disk_full_ = false;
  std::atomic<int> checkpoints_ = 0;
  std::vector<std::string> told_;
  std::unique_ptr<BackupService> service_;
};

TEST_F(BackupServiceTest, MakesVerifiedBackupsOnRequest) {
  create();
  const backup::BackupState state = make();
  EXPECT_EQ(state.problem, "");
  EXPECT_EQ(state.files, 3u) << "the store, POSTINO and STORE-ID";
  const auto listed = service_->list();
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->front().id, state.last_id);
  EXPECT_TRUE(listed->front().verdict && listed->front().verdict->sound);
  EXPECT_THAT(service_->troubles(), IsEmpty());
}

TEST_F(BackupServiceTest, SaysWhatWentWrongAndGoesOn) {
  create();
  is_disk_full_ = true;
  EXPECT_EQ(make().problem, "the disk is full");
  EXPECT_THAT(service_->troubles(), ElementsAre("the last backup failed: the disk is full"));
  is_disk_full_ = false;
  EXPECT_EQ(make().problem, "");
  EXPECT_THAT(service_->troubles(), IsEmpty());
}

TEST_F(BackupServiceTest, BeginsByItselfWhenThereIsNone) {
  settings_.backups.every = std::chrono::hours(24);
  create();
  while (service_->state().last_id.empty()) {
  }
  EXPECT_EQ(await_end().problem, "");
  EXPECT_EQ(checkpoints_, 1);
}

TEST_F(BackupServiceTest, TellsOfABackupThatIsTooOld) {
  settings_.backups.every = std::chrono::hours(24);
  create();
  while (service_->state().last_id.empty() || !service_->state().doing.empty()) {
  }
  clock_.set_by(std::chrono::hours(49));
  EXPECT_THAT(service_->troubles(), IsEmpty());
  clock_.set_by(std::chrono::minutes(1));
  EXPECT_THAT(service_->troubles(), ElementsAre("the newest backup is of 2026-01-02T03:04:05.000Z"));
}

TEST_F(BackupServiceTest, RefusesThePlaceOfAnotherStore) {
  create();
  EXPECT_EQ(make().problem, "");
  settings_.data = directory_.path() / "other";
  put_file(settings_.data / "POSTINO", "postino data format 1\n");
  create();
  EXPECT_THAT(make().problem, HasSubstr("backups of another store"));
}

TEST_F(BackupServiceTest, WantsTheKeyThatIsNamed) {
  settings_.backups.key = "file:" + (directory_.path() / "no-such-key").string();
  const auto created = BackupService::create(settings_, {.make_checkpoint = {}, .tell_audit = {}, .clock = clock_});
  ASSERT_FALSE(created);
  EXPECT_THAT(created.error().message, HasSubstr("no-such-key' cannot be read"));
}

TEST_F(BackupServiceTest, FindsTheNoteOfARestoreOnce) {
  ASSERT_TRUE(note_restored(settings_.data, "20260102T030405Z-00000001"));
  EXPECT_EQ(take_restored_note(settings_.data), "20260102T030405Z-00000001");
  EXPECT_EQ(take_restored_note(settings_.data), std::nullopt);
}

TEST_F(BackupServiceTest, IsAskedFromManyThreadsConcurrent) {
  create();
  std::atomic<int> begun = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        if (service_->begin()) ++begun;
        static_cast<void>(service_->state());
        static_cast<void>(service_->troubles());
        EXPECT_TRUE(service_->list());
        std::string text;
        service_->append_metrics(text);
      }
    });
  for (std::thread& each : threads) each.join();
  await_end();
  EXPECT_EQ(checkpoints_, begun) << "one at a time, and each that was begun is made";
  EXPECT_EQ(service_->list()->size(), static_cast<std::size_t>(begun));
  service_->stop();
  EXPECT_FALSE(service_->begin());
}

}  // namespace
}  // namespace postino::app
