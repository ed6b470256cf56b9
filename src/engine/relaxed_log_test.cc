#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/consistency_testing.h"
#include "engine/engine_testing.h"
#include "engine/storage/crc32c.h"
#include "engine/storage/file_contents_testing.h"
#include "engine/storage/manifest.h"
#include "engine/storage/store_files.h"
#include "engine/store_check.h"

namespace postino::engine {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int relaxed_items = 40;
constexpr std::size_t page_bytes = 4 << 10;
constexpr std::size_t hole_begin = 4 * page_bytes;

// A store with relaxed durability as a power cut leaves it: the newest log was never synced, and one of its pages did
// not reach the disk, while later ones did.
class RelaxedLog : public EngineTest {
 protected:
  RelaxedLog() {
    auto request = table("letters", "id:S");
    add_global_index(request, "by_kind", "kind:S");
    create(request);
    for (int number = 0; number < relaxed_items; ++number)
      put("letters", R"({"id":{"S":")" + std::to_string(number) + R"("},"kind":{"S":"k"},"text":{"S":")" +
                         std::string(3'000, 'x') + R"("}})");
    fs::copy(options_.directory, crashed_, fs::copy_options::recursive);
    engine_.reset();
    log_name_ = inspect_store_files(crashed_)->logs.back();
    contents_ = file_contents(log());
    contents_.replace(hole_begin, page_bytes, std::string(page_bytes, '\0'));
    put_contents(log(), contents_);
  }

  fs::path log() const { return crashed_ / "store" / log_name_; }

  // Enters into the record of files how much of the log is known to be synced.
  void record_synced(std::uint64_t bytes) {
    StoreState state = **read_state(crashed_);
    state.files.back().size = bytes;
    state.files.back().checksum = crc32c(contents_.substr(0, bytes));
    put_contents(crashed_ / "STATE", encode_state(state));
  }

  base::Result<void> open_crashed() {
    options_.directory = crashed_;
    TRY(engine_, Engine::open(options_));
    return {};
  }

  const fs::path crashed_ = directory_.path() / "crashed";
  std::string log_name_;
  std::string contents_;  // of the log
};

TEST_F(RelaxedLog, IsCutOffAtAHole) {
  const auto checked = check_store(crashed_, *clock_);
  ASSERT_TRUE(checked);
  EXPECT_THAT(checked->problems.lines(), IsEmpty());
  EXPECT_THAT(checked->notes, ElementsAre(HasSubstr("the next start cuts them off")));
  EXPECT_EQ(file_contents(log()), contents_);

  const auto opened = open_crashed();
  ASSERT_TRUE(opened) << opened.error().message;
  const std::size_t items = scan_everything(store(), "letters").size();
  EXPECT_GT(items, 0u);
  EXPECT_LT(items, hole_begin / 3'000);
  EXPECT_EQ(items, checked->counts.items) << "the check saw what the start leaves";
  EXPECT_THAT(check_table(store(), "letters"), IsEmpty());
}

TEST_F(RelaxedLog, IsDamagedWhereItWasSynced) {
  record_synced(hole_begin + page_bytes);
  const auto opened = open_crashed();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr(log_name_));
  EXPECT_THAT(opened.error().message, HasSubstr("Nothing was changed"));
  EXPECT_EQ(file_contents(log()), contents_);
}

TEST_F(RelaxedLog, IsCutOffBehindWhatWasSynced) {
  record_synced(1'000);
  const auto opened = open_crashed();
  EXPECT_TRUE(opened) << opened.error().message;
}

// A length without a checksum is what the log had when the next one began, synced or not.
TEST_F(RelaxedLog, IsCutOffWhereItOnlyHadALength) {
  StoreState state = **read_state(crashed_);
  state.files.back().size = contents_.size();
  put_contents(crashed_ / "STATE", encode_state(state));
  const auto opened = open_crashed();
  EXPECT_TRUE(opened) << opened.error().message;
}

TEST_F(RelaxedLog, TakesLaterLogsWithIt) {
  const std::string later = "999999.log";
  put_contents(crashed_ / "store" / later, contents_.substr(0, hole_begin / 2));
  StoreState state = **read_state(crashed_);
  state.files.push_back({later, std::nullopt, std::nullopt});
  put_contents(crashed_ / "STATE", encode_state(state));
  const auto unsynced = inspect_store_files(crashed_);
  ASSERT_TRUE(unsynced);
  EXPECT_THAT(unsynced->faults, IsEmpty());
  ASSERT_EQ(unsynced->unfinished.size(), 2u);
  EXPECT_EQ(unsynced->unfinished.back().whole_bytes, 0u);
  EXPECT_TRUE(unsynced->unfinished.back().holds_writes);

  // What was synced cannot be later than what was not.
  state.files.back().size = 1;
  state.files.back().checksum = 0;
  put_contents(crashed_ / "STATE", encode_state(state));
  const auto synced = inspect_store_files(crashed_);
  ASSERT_TRUE(synced);
  ASSERT_EQ(synced->faults.size(), 1u);
  EXPECT_THAT(synced->faults.front().file, HasSubstr(later));
}

// After a crash of the process alone everything is there.
TEST_F(RelaxedLog, WithoutAHoleLosesNothing) {
  engine_.reset();
  const fs::path again = directory_.path() / "again";
  reopen();
  put("letters", R"({"id":{"S":"one more"}})");
  fs::copy(options_.directory, again, fs::copy_options::recursive);
  engine_.reset();
  options_.directory = again;
  reopen();
  EXPECT_EQ(scan_everything(store(), "letters").size(), relaxed_items + 1u);
}

// RocksDB syncs a log that has ended before a table has the writes in it. From then on the record of files knows.
TEST_F(RelaxedLog, ThatHasEndedIsRecordedAsSynced) {
  options_.memtable_bytes = 64 << 10;
  reopen();
  bool is_recorded = false;
  for (int number = 0; number < 400 && !is_recorded; ++number) {
    put("letters",
        R"({"id":{"S":"more)" + std::to_string(number) + R"("},"text":{"S":")" + std::string(3'000, 'y') + R"("}})");
    const StoreState state = **read_state(options_.directory);
    ASSERT_FALSE(state.files.empty());
    EXPECT_EQ(state.files.back().size, std::nullopt) << "the newest one is not synced";
    for (const KnownFile& file : state.files) is_recorded = is_recorded || (file.checksum && *file.size > 0);
  }
  EXPECT_TRUE(is_recorded);
}

// A store as an earlier version left it: its record of files does not say which logs were synced.
class RelaxedLogOfEarlierVersion : public EngineTest {
 protected:
  static std::uint64_t newest_first_log(const fs::path& directory) {
    const auto name = current_manifest(directory / "store");
    if (!name) return 0;
    const auto manifest = read_manifest(directory / "store" / *name);
    std::uint64_t newest = 0;
    if (manifest)
      for (const auto& [family, number] : manifest->first_logs) newest = std::max(newest, number);
    return newest;
  }

  RelaxedLogOfEarlierVersion() {
    options_.memtable_bytes = 64 << 10;
    reopen();
    create(table("letters", "id:S"));
    bool is_behind_a_table = false;
    for (; items_ < 2'000 && !is_behind_a_table; ++items_) {
      put("letters",
          R"({"id":{"S":")" + std::to_string(items_) + R"("},"text":{"S":")" + std::string(3'000, 'x') + R"("}})");
      const StoreState state = **read_state(options_.directory);
      for (const KnownFile& file : state.files)
        if (file.checksum && *file.size > 8 * page_bytes &&
            *file_number(file.name, ".log") < newest_first_log(options_.directory)) {
          is_behind_a_table = true;
          log_name_ = file.name;
        }
    }
    EXPECT_TRUE(is_behind_a_table);
    fs::copy(options_.directory, crashed_, fs::copy_options::recursive);
    StoreState earlier = **read_state(crashed_);
    EXPECT_TRUE(earlier.open);
    for (KnownFile& file : earlier.files) file.checksum.reset();
    put_contents(crashed_ / "STATE", encode_state(earlier));
    engine_.reset();
    options_.directory = crashed_;
  }

  const fs::path crashed_ = directory_.path() / "crashed";
  std::string log_name_;  // of which a family has the writes in tables, and another one has not
  unsigned items_ = 0;
};

TEST_F(RelaxedLogOfEarlierVersion, LosesNothing) {
  reopen();
  EXPECT_EQ(scan_everything(store(), "letters").size(), items_);
}

// To cut it off would leave tables with what was written later.
TEST_F(RelaxedLogOfEarlierVersion, IsDamagedWhereItMustHaveBeenSynced) {
  const fs::path log = crashed_ / "store" / log_name_;
  std::string contents = file_contents(log);
  contents.replace(hole_begin, page_bytes, std::string(page_bytes, '\0'));
  put_contents(log, contents);
  const auto opened = Engine::open(options_);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr(log_name_));
  EXPECT_THAT(opened.error().message, HasSubstr("Nothing was changed"));
  EXPECT_EQ(file_contents(log), contents);
}

}  // namespace
}  // namespace postino::engine
