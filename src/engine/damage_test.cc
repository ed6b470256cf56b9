#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/catalog/catalog_keys.h"
#include "engine/consistency_testing.h"
#include "engine/engine_testing.h"
#include "engine/storage/as_nobody_testing.h"
#include "engine/storage/database.h"
#include "engine/storage/file_contents_testing.h"
#include "engine/storage/log_scan.h"
#include "engine/storage/store_files.h"

namespace postino::engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int stored_items = 30;
constexpr std::size_t item_text_bytes = 3'000;  // so that the log has records in several blocks, some in fragments

// A store that was closed, and the same one as a crash would have left it.
class Damage : public EngineTest {
 protected:
  Damage() {
    options_.durability = Durability::synced;
    reopen();
    auto request = table("letters", "id:S");
    add_global_index(request, "by_kind", "kind:S");
    create(request);
    for (int number = 0; number < stored_items; ++number) put_item(number);
    reopen();  // these are in tables now
    for (int number = stored_items; number < 2 * stored_items; ++number) put_item(number);
    newest_log_ = crashed_ / "store" / newest_log();
    bytes_before_last_write_ = fs::file_size(options_.directory / "store" / newest_log());
    const std::string state = file_contents(options_.directory / "STATE");
    put_item(2 * stored_items);
    fs::copy(options_.directory, crashed_, fs::copy_options::recursive);
    put_contents(crashed_ / "STATE", state);  // the crash came before the last write was known to be synced
    engine_.reset();
  }

  void put_item(int number) {
    put("letters", R"({"id":{"S":")" + std::to_string(number) + R"("},"kind":{"S":"k)" + std::to_string(number % 3) +
                       R"("},"text":{"S":")" + std::string(item_text_bytes, static_cast<char>('a' + number % 26)) +
                       R"("}})");
  }

  // How long the record of files says that the newest log is at least.
  static std::uint64_t known_bytes(const fs::path& directory) {
    const auto state = read_state(directory);
    return state && *state ? (*state)->files.back().size.value_or(0) : 0;
  }

  // By its number; looking into the logs would take longer than the tests.
  std::string newest_log() const {
    std::string newest;
    for (const auto& entry : fs::directory_iterator(options_.directory / "store"))
      if (entry.path().extension() == ".log") newest = std::max(newest, entry.path().filename().string());
    return newest;
  }

  std::map<std::string, std::string> everything(const fs::path& directory) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(directory))
      // RocksDB removes what it had given up already whenever it opens the files.
      if (entry.is_regular_file() && entry.path().extension() != ".trash")
        files[fs::relative(entry.path(), directory).string()] = file_contents(entry.path());
    return files;
  }

  // The names of files whose loss is a loss: the others are made again.
  static std::vector<std::string> important(const std::map<std::string, std::string>& files) {
    std::vector<std::string> names;
    for (const auto& [name, contents] : files)
      if (!name.ends_with("LOCK") && !name.ends_with("IDENTITY") && !name.ends_with(state_mark_name) &&
          name.find("OPTIONS") == std::string::npos)
        names.push_back(name);
    return names;
  }

  // "" when it opens.
  std::string opening(const fs::path& directory) {
    Options options = options_;
    options.directory = directory;
    auto opened = Engine::open(options);
    if (!opened) return opened.error().message;
    engine_ = *std::move(opened);
    return "";
  }

  // The store is refused, the message names the file and what to do, and nothing was changed.
  void expect_refused(const fs::path& directory, const std::string& file, const std::string& what) {
    SCOPED_TRACE(file + " " + what);
    const auto before = everything(directory);
    const std::string message = opening(directory);
    if (file == "POSTINO") {
      EXPECT_THAT(message, HasSubstr("data directory"));
    } else {
      EXPECT_THAT(message, HasSubstr(fs::path(file).filename().string()));
      EXPECT_THAT(message, HasSubstr("postino repair --data " + directory.string()));
    }
    EXPECT_TRUE(everything(directory) == before);
  }

  void expect_items(int count) {
    EXPECT_EQ(scan_everything(*engine_, "letters").size(), static_cast<std::size_t>(count));
    EXPECT_THAT(check_table(*engine_, "letters"), testing::IsEmpty());
    engine_.reset();
  }

  const fs::path crashed_ = directory_.path() / "crashed";
  fs::path newest_log_;  // of the crashed one
  std::uint64_t bytes_before_last_write_ = 0;
};

// The last 53 bytes of a table are the type of its checksums, the places of two blocks, filled up to 40 bytes, its
// version and a number that all tables end with. What fills up has no meaning.
bool is_padding(const std::string& table, std::size_t place) {
  constexpr std::size_t footer = 53;
  constexpr std::size_t places_end = 1 + 40;
  const std::size_t begin = table.size() - footer;
  return place > begin && place < begin + places_end && table.find_first_not_of('\0', place) >= begin + places_end;
}

std::vector<std::size_t> places_in(const std::string& contents) {
  std::vector<std::size_t> places;
  const std::size_t step = std::max<std::size_t>(1, contents.size() / 40);
  for (std::size_t place = 0; place < contents.size(); place += place < 24 ? 1 : step) places.push_back(place);
  if (!contents.empty()) places.push_back(contents.size() - 1);
  return places;
}

TEST_F(Damage, OfAClosedStoreIsRefusedWhereverABitIsFlipped) {
  const auto files = everything(options_.directory);
  for (const std::string& name : important(files)) {
    for (const std::size_t place : places_in(files.at(name))) {
      std::string flipped = files.at(name);
      flipped[place] = static_cast<char>(flipped[place] ^ 4);
      put_contents(options_.directory / name, flipped);
      if (name.ends_with(".sst") && is_padding(files.at(name), place)) continue;
      expect_refused(options_.directory, name, "flipped at " + std::to_string(place));
      ASSERT_FALSE(HasFailure());
    }
    put_contents(options_.directory / name, files.at(name));
  }
  EXPECT_EQ(opening(options_.directory), "");
  expect_items(2 * stored_items + 1);
}

TEST_F(Damage, OfAClosedStoreIsRefusedWhenAFileIsMissingOrShorter) {
  const auto files = everything(options_.directory);
  for (const std::string& name : important(files)) {
    const std::string& contents = files.at(name);
    for (const std::size_t left : {contents.size() - 1, contents.size() / 2, std::size_t{0}}) {
      if (left >= contents.size()) continue;
      put_contents(options_.directory / name, contents.substr(0, left));
      expect_refused(options_.directory, name, "cut to " + std::to_string(left));
    }
    fs::remove(options_.directory / name);
    expect_refused(options_.directory, name, "missing");
    put_contents(options_.directory / name, contents);
  }
  EXPECT_EQ(opening(options_.directory), "");
  expect_items(2 * stored_items + 1);
}

TEST_F(Damage, OfTheWholeStoreIsRefused) {
  fs::rename(options_.directory / "store", directory_.path() / "elsewhere");
  EXPECT_THAT(opening(options_.directory), HasSubstr("is missing"));
  EXPECT_FALSE(fs::exists(options_.directory / "store"));
}

// What a start does not look at before, RocksDB may find. Then the record of files is as it was, too: that of a clean
// stop says more than that of a start.
TEST_F(Damage, ThatOnlyRocksDbFindsIsRefused) {
  options_.verified_at_start_bytes = 0;
  const std::string record = file_contents(options_.directory / "STATE");
  for (const fs::path& directory : {options_.directory, crashed_})
    for (const auto& [name, contents] : everything(directory)) {
      if (!name.ends_with(".sst")) continue;
      std::string flipped = contents;
      flipped.back() = static_cast<char>(flipped.back() ^ 4);
      put_contents(directory / name, flipped);
      expect_refused(directory, name, "end flipped");
      EXPECT_THAT(opening(directory), HasSubstr("Nothing was changed"));
      put_contents(directory / name, contents);
    }
  EXPECT_EQ(file_contents(options_.directory / "STATE"), record);
  EXPECT_EQ(opening(options_.directory), "");
  expect_items(2 * stored_items + 1);
}

TEST_F(Damage, ThatOnlyRocksDbFindsLeavesAStoreOfAnOlderVersionAsItWas) {
  options_.verified_at_start_bytes = 0;
  fs::remove(options_.directory / "STATE");
  fs::remove(options_.directory / "store" / state_mark_name);
  for (const auto& [name, contents] : everything(options_.directory))
    if (name.ends_with(".sst")) {
      put_contents(options_.directory / name, contents.substr(0, contents.size() - 1) + '\0');
      expect_refused(options_.directory, name, "end flipped");
      put_contents(options_.directory / name, contents);
    }
}

// The message says what was changed before the damage was found.
TEST_F(Damage, ThatIsFoundLateIsRefusedWithTheTruth) {
  options_.verified_at_start_bytes = 0;
  fs::resize_file(newest_log_, bytes_before_last_write_ + 5);
  for (const auto& [name, contents] : everything(crashed_))
    if (name.ends_with(".sst")) put_contents(crashed_ / name, contents.substr(0, contents.size() - 1) + '\0');
  EXPECT_THAT(opening(crashed_), HasSubstr("Only what a crash had left unfinished in the log was cut off"));

  {
    Options options = options_;
    const auto database = Database::open(options, nullptr);
    ASSERT_TRUE(database) << database.error().message;
    rocksdb::WriteBatch batch;
    batch.Put((*database)->handle(Family::meta), std::string(table_prefix) + "letters", "no table");
    ASSERT_TRUE((*database)->write(batch));
  }
  const std::string message = opening(options_.directory);
  EXPECT_THAT(message, HasSubstr("no record in it was changed"));
  EXPECT_THAT(message, testing::Not(HasSubstr("Nothing was changed")));
}

// A file that may not be read is no damage, and nothing is thrown.
TEST_F(Damage, IsNotWhatAUserMayNotRead) {
  using fs::perms;
  for (const fs::path& above : {directory_.path(), options_.directory})
    fs::permissions(above, perms::others_exec | perms::others_read, fs::perm_options::add);
  fs::permissions(options_.directory / "STATE", perms::others_read, fs::perm_options::add);
  const auto refusal = [&](const fs::path& path, perms allowed) {
    const perms before = fs::status(path).permissions();
    fs::permissions(path, allowed);
    base::Result<StoreFiles> inspected;
    {
      const AsNobody as_nobody;
      inspected = inspect_store_files(options_.directory);
    }
    fs::permissions(path, before);
    if (inspected) return std::string("none");
    EXPECT_EQ(inspected.error().code, base::ErrorCode::io);
    return inspected.error().message;
  };
  EXPECT_THAT(refusal(options_.directory / "STATE", perms::owner_all), HasSubstr("STATE': Permission denied"));
  const fs::path store = options_.directory / "store";
  for (const perms allowed : {perms::none, perms::others_read | perms::owner_read, perms::others_exec})
    EXPECT_THAT(refusal(store, allowed), HasSubstr("Permission denied")) << static_cast<int>(allowed);
  fs::permissions(store, perms::others_exec | perms::others_read, fs::perm_options::add);
  EXPECT_THAT(refusal(store / "CURRENT", perms::owner_all), HasSubstr("Permission denied"));
}

// Reading fails as on a broken disk. Nothing is thrown.
TEST_F(Damage, ThatLeavesNoFileIsRefused) {
  for (const char* name : {"STATE", "POSTINO", "store/CURRENT"}) {
    const fs::path file = options_.directory / name;
    const std::string contents = file_contents(file);
    fs::remove(file);
    fs::create_directory(file);
    EXPECT_NE(opening(options_.directory), "") << name;
    fs::remove(file);
    put_contents(file, contents);
  }
  EXPECT_EQ(opening(options_.directory), "");
}

// Stores of older versions have no record of files, and do not say that they have one. Then a start goes by the rules
// for crashes.
TEST_F(Damage, IsNotSeenInAStoreOfAnOlderVersion) {
  fs::remove(options_.directory / "STATE");
  fs::remove(options_.directory / "store" / state_mark_name);
  EXPECT_EQ(opening(options_.directory), "");
  expect_items(2 * stored_items + 1);
  EXPECT_TRUE(fs::exists(options_.directory / "STATE"));
  fs::remove(options_.directory / "STATE");
  expect_refused(options_.directory, "STATE", "missing now");
}

// RocksDB would begin a new log, and say nothing.
TEST_F(Damage, OfAllLogsIsRefusedInAStoreOfAnOlderVersion) {
  fs::remove(crashed_ / "STATE");
  fs::remove(crashed_ / "store" / state_mark_name);
  const auto files = inspect_store_files(crashed_);
  ASSERT_TRUE(files);
  for (const std::string& log : files->logs) fs::remove(crashed_ / "store" / log);
  expect_refused(crashed_, ".log", "all missing");
}

TEST_F(Damage, HasNoLogToHitAfterACleanStop) {
  const auto files = inspect_store_files(options_.directory);
  ASSERT_TRUE(files);
  for (const std::string& log : files->logs) EXPECT_EQ(fs::file_size(options_.directory / "store" / log), 0u) << log;
}

TEST_F(Damage, ThatIsAnUnfinishedLastWriteHeals) {
  const auto files = everything(crashed_);
  const std::string log = file_contents(newest_log_);
  for (std::size_t left = bytes_before_last_write_; left < log.size(); left += left < log.size() - 100 ? 499 : 11) {
    const std::string cut = log.substr(0, left);
    const std::string zeros(log.size() - left, '\0');
    std::string garbage = zeros;
    for (std::size_t i = 0; i < garbage.size(); ++i) garbage[i] = static_cast<char>(i * 37 + left);
    for (const std::string& tail : {std::string(), zeros, garbage}) {
      for (const auto& [name, contents] : files) put_contents(crashed_ / name, contents);
      put_contents(newest_log_, cut + tail);
      ASSERT_EQ(opening(crashed_), "") << left;
      expect_items(2 * stored_items);
      fs::remove_all(crashed_);
      fs::create_directories(crashed_ / "store");
    }
  }
}

// The process that opened it may crash again before the log is gone.
TEST_F(Damage, ThatHealedStaysHealed) {
  fs::resize_file(newest_log_, bytes_before_last_write_ + 5);
  const auto files = inspect_store_files(crashed_);
  ASSERT_TRUE(files);
  ASSERT_EQ(files->unfinished.size(), 1u);
  EXPECT_EQ(files->unfinished[0].whole_bytes, bytes_before_last_write_);
  EXPECT_EQ(files->unfinished[0].unfinished_bytes, 5u);
  ASSERT_TRUE(finish_logs(crashed_, *files));
  EXPECT_EQ(fs::file_size(newest_log_), bytes_before_last_write_);
  const auto healed = inspect_store_files(crashed_);
  EXPECT_TRUE(healed && healed->unfinished.empty());
}

TEST_F(Damage, InTheMiddleOfALogAfterACrashIsRefused) {
  const std::string log = file_contents(newest_log_);
  ASSERT_GT(log.size(), std::size_t{64} << 10);
  for (std::size_t place = 0; place < bytes_before_last_write_; place += place < 64 ? 1 : 613) {
    std::string flipped = log;
    flipped[place] = static_cast<char>(flipped[place] ^ 4);
    put_contents(newest_log_, flipped);
    expect_refused(crashed_, newest_log_.string(), "flipped at " + std::to_string(place));
    ASSERT_FALSE(HasFailure());
  }
  // A page that was not written, or was written with zeros.
  std::string hole = log;
  hole.replace(16 << 10, 4 << 10, std::string(4 << 10, '\0'));
  put_contents(newest_log_, hole);
  expect_refused(crashed_, newest_log_.string(), "with a hole");
}

// The headers of records are where a flip is most easily taken for an end.
TEST_F(Damage, InAnyRecordHeaderAfterACrashIsRefused) {
  const std::string log = file_contents(newest_log_);
  std::vector<std::size_t> records;
  for (std::size_t size = 0; size <= bytes_before_last_write_; size += 256) {
    put_contents(directory_.path() / "part.log", log.substr(0, size));
    const auto scan = scan_log(directory_.path() / "part.log", LogKind::writes);
    if (records.empty() || records.back() != scan->whole) records.push_back(scan->whole);
  }
  ASSERT_GT(records.size(), 20u);
  for (const std::size_t record : records) {
    if (record >= bytes_before_last_write_) continue;
    for (std::size_t place = record; place < record + 7; ++place)
      for (const int bit : {1, 0x80}) {
        std::string flipped = log;
        flipped[place] = static_cast<char>(flipped[place] ^ bit);
        put_contents(newest_log_, flipped);
        expect_refused(crashed_, newest_log_.string(), "flipped at " + std::to_string(place));
      }
  }
}

TEST_F(Damage, AfterACrashIsRefusedWhenAFileIsMissing) {
  const auto files = everything(crashed_);
  for (const std::string& name : important(files)) {
    if (name == "POSTINO" || files.at(name).empty()) continue;  // an old log may go
    fs::remove(crashed_ / name);
    expect_refused(crashed_, name, "missing");
    put_contents(crashed_ / name, files.at(name));
  }
  EXPECT_EQ(opening(crashed_), "");
  expect_items(2 * stored_items + 1);
}

TEST_F(Damage, ThatCutsTheLogAfterACrashIsRefused) {
  const std::string log = file_contents(newest_log_);
  const std::uint64_t known = known_bytes(crashed_);
  ASSERT_GE(2 * known, bytes_before_last_write_);
  std::set<std::uint64_t> places = {0, 1, known / 2, known - 1};
  for (std::uint64_t size = 0; size < known; size += 2'000) {
    put_contents(directory_.path() / "part.log", log.substr(0, size));
    places.insert(scan_log(directory_.path() / "part.log", LogKind::writes)->whole);  // between two records
  }
  ASSERT_GT(places.size(), 10u);
  for (const std::uint64_t left : places)
    for (const std::string& tail : {std::string(), std::string(log.size() - left, '\0')}) {
      put_contents(newest_log_, log.substr(0, left) + tail);
      expect_refused(crashed_, newest_log_.string(), "cut to " + std::to_string(left));
    }
}

TEST_F(Damage, ThatRemovesTheLogAndTheRecordAfterACrashIsRefused) {
  fs::remove(newest_log_);
  expect_refused(crashed_, newest_log_.string(), "missing");
  fs::remove(crashed_ / "STATE");
  expect_refused(crashed_, "STATE", "missing with the log");
}

// Not a single acknowledged write may be all that is lost.
TEST_F(Damage, ThatEmptiesALogWithOneWriteIsRefused) {
  const fs::path again = directory_.path() / "again";
  ASSERT_EQ(opening(options_.directory), "");
  put_item(99);
  fs::copy(options_.directory, again, fs::copy_options::recursive);
  const fs::path log = again / "store" / newest_log();
  engine_.reset();
  ASSERT_GT(fs::file_size(log), 0u);
  fs::resize_file(log, 0);
  expect_refused(again, log.string(), "emptied");
}

TEST_F(Damage, OfALargeLogIsKnownToTheLastFewMegabytes) {
  constexpr std::uint64_t step = 4 << 20;
  constexpr std::size_t text_bytes = 300'000;
  ASSERT_EQ(opening(options_.directory), "");
  for (int number = 0; number < 40; ++number) {
    put("letters", R"({"id":{"S":"large)" + std::to_string(number) + R"("},"text":{"S":")" +
                       std::string(text_bytes, 'x') + R"("}})");
    const std::uint64_t size = fs::file_size(options_.directory / "store" / newest_log());
    const std::uint64_t known = known_bytes(options_.directory);
    EXPECT_LE(known, size);
    EXPECT_GT(known + std::min(known, step), size);
  }
}

// A change of the list of files that was not finished is none; everything else that is wrong with the list is damage.
TEST_F(Damage, OfTheManifestAfterACrashNeverLosesItems) {
  const auto files = everything(crashed_);
  int refused = 0;
  for (const std::string& name : important(files)) {
    if (name.find("MANIFEST") == std::string::npos) continue;
    for (std::size_t place = 0; place < files.at(name).size(); place += 5) {
      for (const auto& [other, contents] : files) put_contents(crashed_ / other, contents);
      std::string flipped = files.at(name);
      flipped[place] = static_cast<char>(flipped[place] ^ 0x40);
      put_contents(crashed_ / name, flipped);
      if (opening(crashed_).empty())
        expect_items(2 * stored_items + 1);
      else
        ++refused;
      fs::remove_all(crashed_);
      fs::create_directories(crashed_ / "store");
    }
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace postino::engine
