// A store is taken while it is written to, and put elsewhere: it is what it was at one moment, or nothing.
#include "engine/store_backup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "engine/engine_testing.h"
#include "engine/storage/file_contents_testing.h"
#include "engine/store_restore.h"
#include "item/attribute_text.h"

namespace postino::engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

class StoreBackupTest : public EngineTest {
 protected:
  fs::path checkpoint() { return checkpoint_directory(options_.directory); }
  fs::path target() { return directory_.path() / "restored"; }

  // As a backup does: by way of copies, to a place of its own.
  void copy_checkpoint(const fs::path& to) {
    fs::copy(checkpoint(), to, fs::copy_options::recursive);
    fs::copy(options_.directory / "POSTINO", to / "POSTINO");
  }
  void open_restored() {
    engine_.reset();
    options_.directory = target();
    reopen();
  }
  void restore() {
    auto restore = StoreRestore::begin(target());
    ASSERT_TRUE(restore) << restore.error().message;
    copy_checkpoint(restore->place());
    const auto check = restore->finish(clock());
    ASSERT_TRUE(check) << check.error().message;
    EXPECT_THAT(check->problems.lines(), IsEmpty());
  }
};

TEST_F(StoreBackupTest, HasWhatWasCommittedBeforeAndNothingThatCameAfter) {
  create(table("letters", "id:S"));
  put("letters", R"({"id":{"S":"before"}})");
  ASSERT_TRUE(engine().make_checkpoint(checkpoint()));
  put("letters", R"({"id":{"S":"after"}})");
  restore();
  open_restored();
  EXPECT_EQ(get("letters", R"({"id":{"S":"before"}})"), R"({"id":{"S":"before"}})");
  EXPECT_EQ(get("letters", R"({"id":{"S":"after"}})"), "");
}

TEST_F(StoreBackupTest, LeavesTheStoreAsItIs) {
  create(table("letters", "id:S"));
  put("letters", R"({"id":{"S":"1"}})");
  ASSERT_TRUE(engine().make_checkpoint(checkpoint()));
  ASSERT_TRUE(engine().make_checkpoint(checkpoint())) << "what is left of one that was interrupted goes";
  put("letters", R"({"id":{"S":"2"}})");
  ASSERT_TRUE(remove_checkpoint(checkpoint()));
  reopen();
  EXPECT_NE(get("letters", R"({"id":{"S":"1"}})"), "");
  EXPECT_NE(get("letters", R"({"id":{"S":"2"}})"), "");
  engine_.reset();
  EXPECT_TRUE(check_store(options_.directory, clock())->sound());
}

// Each transaction writes its number to two items. All checkpoints have the same number in both.
TEST_F(StoreBackupTest, HasTransactionsAsAWholeConcurrent) {
  create(table("pairs", "id:S"));
  std::atomic<bool> is_over = false;
  std::atomic<int> written = 0;
  std::thread writer([&] {
    for (int number = 0; !is_over; ++number) {
      store::TransactWriteItemsRequest request;
      for (const char* id : {"left", "right"}) {
        store::TransactPut put;
        put.table_name = "pairs";
        put.item =
            json(R"({"id":{"S":")" + std::string(id) + R"("},"number":{"S":")" + std::to_string(number) + R"("}})");
        request.actions.emplace_back(std::move(put));
      }
      EXPECT_EQ(outcome(store().transact_write_items(request)), "ok");
      written = number + 1;
    }
  });
  for (int round = 0; round < 5; ++round) {
    const int before = written;
    while (written < before + 20) std::this_thread::yield();
    const int committed = written;
    ASSERT_TRUE(engine().make_checkpoint(checkpoint()));
    const fs::path copy = directory_.path() / ("copy" + std::to_string(round));
    fs::create_directory(copy);
    fs::copy(checkpoint(), copy, fs::copy_options::recursive);
    fs::copy(options_.directory / "POSTINO", copy / "POSTINO");
    const auto check = check_store(copy, clock());
    ASSERT_TRUE(check) << check.error().message;
    EXPECT_THAT(check->problems.lines(), IsEmpty());
    Options options = options_;
    options.directory = copy;
    const auto opened = Engine::open(options);
    ASSERT_TRUE(opened) << opened.error().message;
    std::vector<std::string> numbers;
    for (const char* id : {"left", "right"}) {
      store::GetItemRequest request;
      request.table_name = "pairs";
      request.key = json(R"({"id":{"S":")" + std::string(id) + R"("}})");
      const auto found = (*opened)->get_item(request);
      ASSERT_TRUE(found && found->item);
      numbers.push_back(item::attribute_text(*found->item, "number"));
    }
    EXPECT_EQ(numbers[0], numbers[1]);
    EXPECT_GE(std::stoi(numbers[0]), committed - 1) << "what was acknowledged before is in it";
  }
  is_over = true;
  writer.join();
}

TEST_F(StoreBackupTest, IsRestoredToAnEmptyDirectoryOnly) {
  fs::create_directory(target());
  put_contents(target() / "mine.txt", "of the operator");
  EXPECT_THAT(StoreRestore::begin(target()).error().message, HasSubstr("is not empty"));
  EXPECT_EQ(file_contents(target() / "mine.txt"), "of the operator");
  EXPECT_THAT(StoreRestore::begin(options_.directory).error().message, HasSubstr("in use by another process"));
}

TEST_F(StoreBackupTest, IsNoStoreBeforeItIsRestoredAsAWhole) {
  create(table("letters", "id:S"));
  put("letters", R"({"id":{"S":"before"}})");
  ASSERT_TRUE(engine().make_checkpoint(checkpoint()));
  {
    auto restore = StoreRestore::begin(target());
    ASSERT_TRUE(restore);
    copy_checkpoint(restore->place());
    // Killed while files are moved to their places.
    fs::rename(restore->place() / "POSTINO", target() / "POSTINO");
    fs::rename(restore->place() / "store", target() / "store");
  }
  Options options = options_;
  options.directory = target();
  const auto opened = Engine::open(options);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("a restore of a backup was interrupted there"));
  EXPECT_THAT(check_store(target(), clock()).error().message, HasSubstr("was interrupted"));
  restore();
  open_restored();
  EXPECT_NE(get("letters", R"({"id":{"S":"before"}})"), "");
}

TEST_F(StoreBackupTest, RefusesAStoreThatIsNotSound) {
  create(table("letters", "id:S"));
  put("letters", R"({"id":{"S":"before"}})");
  ASSERT_TRUE(engine().make_checkpoint(checkpoint()));
  auto restore = StoreRestore::begin(target());
  copy_checkpoint(restore->place());
  for (const auto& entry : fs::directory_iterator(restore->place() / "store"))
    if (entry.path().extension() == ".sst") fs::remove(entry.path());
  const auto check = restore->finish(clock());
  ASSERT_TRUE(check);
  EXPECT_FALSE(check->sound());
  EXPECT_FALSE(fs::exists(target() / "store"));
}

TEST_F(StoreBackupTest, TakesARelaxedStoreWithWhatIsInItsLogs) {
  engine_.reset();
  options_.durability = Durability::relaxed;
  reopen();
  create(table("letters", "id:S"));
  put("letters", R"({"id":{"S":"before"}})");
  ASSERT_TRUE(engine().make_checkpoint(checkpoint()));
  restore();
  open_restored();
  EXPECT_NE(get("letters", R"({"id":{"S":"before"}})"), "");
}

// The way to a time between two backups.
TEST_F(StoreBackupTest, HasWhatTablesWereBefore) {
  create(table("prices", "id:S"));
  ASSERT_EQ(outcome(store().update_continuous_backups("prices", {.enabled = true})), "ok");
  put("prices", R"({"id":{"S":"stamp"},"cents":{"S":"95"}})");
  const base::TimePoint right = clock().now();
  clock().advance(std::chrono::seconds(5));
  put("prices", R"({"id":{"S":"stamp"},"cents":{"S":"0"}})");
  clock().advance(std::chrono::seconds(5));
  ASSERT_TRUE(engine().make_checkpoint(checkpoint()));
  restore();
  open_restored();
  store::RestoreToPointInTimeRequest request;
  request.source_table_name = "prices";
  request.target_table_name = "prices-before";
  request.time = right;
  ASSERT_EQ(outcome(store().restore_table_to_point_in_time(request)), "ok");
  while (*engine().run_maintenance_once()) {
  }
  EXPECT_EQ(get("prices-before", R"({"id":{"S":"stamp"}})"), R"({"cents":{"S":"95"},"id":{"S":"stamp"}})");
}

}  // namespace
}  // namespace postino::engine
