#include "engine/store_repair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "engine/consistency_testing.h"
#include "engine/engine_testing.h"
#include "engine/recovery/table_file.h"
#include "engine/storage/database.h"
#include "engine/storage/file_contents_testing.h"
#include "engine/storage/keys.h"
#include "engine/storage/statistics.h"
#include "engine/storage/store_files.h"
#include "engine/store_check.h"

namespace postino::engine {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int repair_items = 400;

void flip(const fs::path& file, std::size_t place) {
  std::string contents = file_contents(file);
  ASSERT_LT(place, contents.size());
  contents[place] = static_cast<char>(contents[place] ^ 4);
  put_contents(file, contents);
}

class StoreRepairTest : public EngineTest {
 protected:
  StoreRepairTest() {
    auto request = table("letters", "id:S");
    add_global_index(request, "by_kind", "kind:S");
    request.stream = store::StreamSpecification{true, store::StreamViewType::new_and_old_images};
    create(request);
    const auto enabled = store().update_time_to_live("letters", {"expires", true});
    EXPECT_TRUE(enabled) << outcome(enabled);
    for (int number = 0; number < repair_items; ++number) put_item(number);
    store::TransactWriteItemsRequest transaction;
    transaction.client_request_token = "token";
    transaction.actions.push_back(store::TransactPut{.table_name = "letters", .item = json(R"({"id":{"S":"t"}})")});
    EXPECT_TRUE(store().transact_write_items(transaction));
  }

  void put_item(int number) {
    put("letters", R"({"id":{"S":")" + std::to_string(number) + R"("},"kind":{"S":"k)" + std::to_string(number % 3) +
                       R"("},"expires":{"N":"1900000000"},"text":{"S":")" + std::string(500, 'x') +
                       std::to_string(number * 7919) + R"("}})");
  }

  StoreCheck check() {
    auto checked = check_store(options_.directory, *clock_);
    EXPECT_TRUE(checked) << checked.error().message;
    return checked ? *std::move(checked) : StoreCheck();
  }
  StoreRepair repair() {
    auto repaired = repair_store(options_.directory, std::nullopt, *clock_);
    EXPECT_TRUE(repaired) << repaired.error().message;
    return repaired ? *std::move(repaired) : StoreRepair();
  }

  // Writes to the database behind the store's back.
  void change_behind(const std::function<void(Database&, rocksdb::WriteBatch&)>& change) {
    engine_.reset();
    auto database = Database::open(options_, nullptr);
    ASSERT_TRUE(database) << database.error().message;
    rocksdb::WriteBatch batch;
    change(**database, batch);
    ASSERT_TRUE((*database)->write(batch));
  }
  static std::string first_key(Database& database, Family family) {
    const std::unique_ptr<rocksdb::Iterator> entries(
        database.rocks().NewIterator(rocksdb::ReadOptions(), database.handle(family)));
    entries->SeekToFirst();
    return entries->key().ToString();
  }

  static std::string last_key(Database& database, Family family) {
    const std::unique_ptr<rocksdb::Iterator> entries(
        database.rocks().NewIterator(rocksdb::ReadOptions(), database.handle(family)));
    entries->SeekToLast();
    return entries->key().ToString();
  }

  // Damaged before, sound after, and the damaged store is kept.
  StoreRepair expect_repairable() {
    EXPECT_FALSE(check().sound());
    StoreRepair repaired = repair();
    EXPECT_TRUE(repaired.needed);
    EXPECT_TRUE(fs::exists(repaired.kept_in / "store")) << repaired.kept_in;
    EXPECT_FALSE(fs::exists(options_.directory / "repairing"));
    EXPECT_THAT(check().problems.lines(), IsEmpty());
    reopen();
    EXPECT_THAT(check_table(store(), "letters"), IsEmpty());
    put_item(repair_items);  // and goes on
    EXPECT_THAT(check_table(store(), "letters"), IsEmpty());
    return repaired;
  }
  std::size_t item_count() { return scan_everything(store(), "letters").size(); }

  fs::path largest(const std::string& ending) const {
    fs::path found;
    for (const auto& entry : fs::directory_iterator(options_.directory / "store"))
      if (entry.path().extension() == ending && (found.empty() || entry.file_size() > fs::file_size(found)))
        found = entry.path();
    return found;
  }

  // The files of tables, oldest first, that hold a family's records.
  std::vector<fs::path> files_of(Family family) const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(options_.directory / "store")) {
      if (entry.path().extension() != ".sst") continue;
      const auto file = TableFile::open(entry.path());
      if (file && file->family() == static_cast<std::uint64_t>(family)) found.push_back(entry.path());
    }
    std::ranges::sort(found);
    return found;
  }
  void crash() {
    const fs::path crashed = directory_.path() / "crashed";
    fs::copy(options_.directory, crashed, fs::copy_options::recursive);
    engine_.reset();
    options_.directory = crashed;
  }
  std::map<std::string, std::string> all_bytes() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(options_.directory))
      all[entry.path().string()] = entry.is_regular_file() ? file_contents(entry.path()) : "";
    return all;
  }
};

TEST_F(StoreRepairTest, LeavesASoundStoreAlone) {
  engine_.reset();
  const StoreCheck checked = check();
  EXPECT_THAT(checked.problems.lines(), IsEmpty());
  EXPECT_TRUE(checked.contents_checked);
  EXPECT_EQ(checked.counts.tables, 1u);
  EXPECT_EQ(checked.counts.items, repair_items + 1u);
  EXPECT_EQ(checked.counts.index_entries, static_cast<std::uint64_t>(repair_items));
  EXPECT_EQ(checked.counts.expiry_entries, static_cast<std::uint64_t>(repair_items));
  EXPECT_EQ(checked.counts.stream_records, repair_items + 1u);
  EXPECT_FALSE(repair().needed);
}

TEST_F(StoreRepairTest, ACheckShowsEveryItemToServices) {
  create(table("drafts", "id:S"));
  put("drafts", R"({"id":{"S":"1"}})");
  engine_.reset();
  std::map<std::string, std::size_t> items;
  const auto checked = check_store(options_.directory, *clock_, [&](const std::string& table, const item::Item& item) {
    if (item.contains("id")) ++items[table];
  });
  ASSERT_TRUE(checked);
  EXPECT_TRUE(checked->contents_checked);
  EXPECT_EQ(items, (std::map<std::string, std::size_t>{{"drafts", 1}, {"letters", repair_items + 1}}));
}

TEST_F(StoreRepairTest, RefusesAStoreThatIsOpen) {
  EXPECT_EQ(check_store(options_.directory, *clock_).error().code, base::ErrorCode::conflict);
  EXPECT_EQ(repair_store(options_.directory, std::nullopt, *clock_).error().code, base::ErrorCode::conflict);
  EXPECT_EQ(check_store(directory_.path() / "none", *clock_).error().code, base::ErrorCode::not_found);
}

TEST_F(StoreRepairTest, MakesMissingAndStrayEntriesAnew) {
  change_behind([](Database& database, rocksdb::WriteBatch& batch) {
    batch.Delete(database.handle(Family::indexes), first_key(database, Family::indexes));
    batch.Delete(database.handle(Family::expiry), first_key(database, Family::expiry));
    batch.Put(database.handle(Family::meta), statistics_key(1), encode_statistics(7, 7));
    batch.Put(database.handle(Family::items), id_prefix(99) + "stray", "x");
    batch.Put(database.handle(Family::tokens), "tbroken", "");
  });
  const auto problems = check().problems.lines();
  EXPECT_THAT(problems, Contains(HasSubstr("is missing in index by_kind")));
  EXPECT_THAT(problems, Contains(HasSubstr("is missing in the expiry entries")));
  EXPECT_THAT(problems, Contains(HasSubstr("is counted as 7 of 7")));
  EXPECT_THAT(problems, Contains(HasSubstr("items of number 99")));
  EXPECT_THAT(problems, Contains(HasSubstr("is incomplete")));
  const StoreRepair repaired = expect_repairable();
  EXPECT_THAT(repaired.lost.lines(), testing::ElementsAre("table number 99: its record, and 1 item with it"));
  EXPECT_EQ(item_count(), repair_items + 2u);
}

TEST_F(StoreRepairTest, FindsEntriesThatBelongToNoItem) {
  change_behind([](Database& database, rocksdb::WriteBatch& batch) {
    batch.Delete(database.handle(Family::items), first_key(database, Family::items));
  });
  EXPECT_THAT(check().problems.lines(), Contains(HasSubstr("belongs to no item")));
  expect_repairable();
}

// With point-in-time recovery, and an item that was something else a second ago.
class RecoverableRepairTest : public StoreRepairTest {
 protected:
  RecoverableRepairTest() {
    EXPECT_TRUE(store().update_continuous_backups("letters", {.enabled = true, .recovery_period_days = {}}));
    clock().advance(std::chrono::seconds(1));
    put("letters", R"({"id":{"S":"1"},"changed":{"BOOL":true}})");
  }
  store::RestoreToPointInTimeRequest first_second() const {
    store::RestoreToPointInTimeRequest request;
    request.source_table_name = "letters";
    request.target_table_name = "before";
    request.time = engine_test_start;
    return request;
  }
  void finish_restore() {
    while (engine().run_maintenance_once().value()) {
    }
  }
};

TEST_F(RecoverableRepairTest, WithoutALossTablesCanBeBroughtBack) {
  change_behind([](Database& database, rocksdb::WriteBatch& batch) {
    batch.Delete(database.handle(Family::indexes), first_key(database, Family::indexes));
    batch.Put(database.handle(Family::undo), undo_key(99, 1, 1), "stray");
  });
  EXPECT_THAT(check().problems.lines(), Contains(HasSubstr("belongs to no table with point-in-time recovery")));
  const StoreRepair repaired = expect_repairable();
  EXPECT_THAT(repaired.lost.lines(), IsEmpty());
  EXPECT_EQ(repaired.saved.undo_records, 1u);
  ASSERT_EQ(outcome(store().restore_table_to_point_in_time(first_second())), "ok");
  finish_restore();
  EXPECT_THAT(check_table(store(), "before"), IsEmpty());
  EXPECT_EQ(get("before", R"({"id":{"S":"1"}})").find("changed"), std::string::npos);
}

TEST_F(RecoverableRepairTest, WhatMayNotBeExactIsNotRestored) {
  ASSERT_EQ(outcome(store().restore_table_to_point_in_time(first_second())), "ok");  // and not filled yet
  change_behind([](Database& database, rocksdb::WriteBatch& batch) {
    batch.Put(database.handle(Family::items), first_key(database, Family::items), "\x07garbage");
  });
  const StoreRepair repaired = expect_repairable();
  EXPECT_THAT(repaired.lost.lines(), Contains("table letters: it can be restored to times after the repair only"));
  EXPECT_THAT(repaired.lost.lines(), Contains("table before: it was being restored, and must be restored again"));
  EXPECT_EQ(outcome(store().describe_table("before")),
            "ResourceNotFoundException: Requested resource not found: Table: before not found");
  EXPECT_EQ(store().restore_table_to_point_in_time(first_second()).error().type,
            store::ErrorType::invalid_restore_time);
}

class BackedUpRepairTest : public StoreRepairTest {
 protected:
  BackedUpRepairTest() {
    letters_ = scan_everything(store(), "letters");
    finished_ = store().table_backups()->create_backup("letters", "finished").value().arn;
    while (engine().run_maintenance_once().value()) {
    }
    under_way_ = store().table_backups()->create_backup("letters", "under-way").value().arn;
  }
  std::string outcome_of_describing(const std::string& arn) {
    return outcome(store().table_backups()->describe_backup(arn));
  }

  std::vector<item::Item> letters_;  // as they were
  std::string finished_;
  std::string under_way_;
};

TEST_F(BackedUpRepairTest, WithoutALossBackupsAreKept) {
  change_behind([](Database& database, rocksdb::WriteBatch& batch) {
    batch.Delete(database.handle(Family::indexes), first_key(database, Family::indexes));
  });
  const StoreRepair repaired = expect_repairable();
  EXPECT_THAT(repaired.lost.lines(), IsEmpty());
  EXPECT_EQ(repaired.saved.backups, 2u);
  while (engine().run_maintenance_once().value()) {
  }
  for (const std::string& arn : {finished_, under_way_}) {
    ASSERT_EQ(outcome(store().table_backups()->restore_table_from_backup({arn, "copy", {}})), "ok");
    while (engine().run_maintenance_once().value()) {
    }
    EXPECT_TRUE(scan_everything(store(), "copy") == letters_) << arn;
    EXPECT_THAT(check_table(store(), "copy"), IsEmpty());
    ASSERT_TRUE(store().delete_table("copy"));
  }
}

TEST_F(BackedUpRepairTest, ABackupThatLacksAnItemIsNotKept) {
  change_behind([](Database& database, rocksdb::WriteBatch& batch) {
    batch.Delete(database.handle(Family::items), last_key(database, Family::items));
  });
  EXPECT_THAT(check().problems.lines(), Contains(HasSubstr("backup 0")));
  const StoreRepair repaired = expect_repairable();
  EXPECT_THAT(repaired.lost.lines(), Contains(HasSubstr("it is not whole")));
  EXPECT_THAT(repaired.lost.lines(), Contains(HasSubstr("it was being made, and must be made again")));
  for (const std::string& arn : {finished_, under_way_})
    EXPECT_EQ(outcome_of_describing(arn), "BackupNotFoundException: Backup not found: " + arn);
}

TEST_F(RecoverableRepairTest, AnUndoRecordThatCannotBeReadIsFound) {
  change_behind([](Database& database, rocksdb::WriteBatch& batch) {
    batch.Put(database.handle(Family::undo), first_key(database, Family::undo), "\x07garbage");
  });
  EXPECT_THAT(check().problems.lines(), Contains(HasSubstr("the undo record")));
  EXPECT_THAT(expect_repairable().lost.lines(), Contains("table letters: records of what it was before"));
}

TEST_F(StoreRepairTest, DropsAnItemThatCannotBeRead) {
  change_behind([](Database& database, rocksdb::WriteBatch& batch) {
    batch.Put(database.handle(Family::items), first_key(database, Family::items), "\x07garbage");
  });
  EXPECT_THAT(check().problems.lines(), Contains(HasSubstr("cannot be read")));
  EXPECT_EQ(expect_repairable().lost.count(), 1u);
  EXPECT_EQ(item_count(), repair_items + 1u);
}

// Of a table with a damaged block all other blocks are saved.
TEST_F(StoreRepairTest, SavesWhatIsAroundADamagedBlock) {
  engine_.reset();
  const fs::path file = largest(".sst");
  flip(file, fs::file_size(file) / 2);
  EXPECT_FALSE(expect_repairable().lost.empty());
  EXPECT_GT(item_count(), repair_items / 2u);
  EXPECT_LE(item_count(), repair_items + 2u);
}

TEST_F(StoreRepairTest, SavesEverythingWithoutTheListOfFiles) {
  engine_.reset();
  fs::remove(options_.directory / "store" / "CURRENT");
  expect_repairable();
  EXPECT_EQ(item_count(), repair_items + 2u);
}

TEST_F(StoreRepairTest, SavesWhatOtherTablesHold) {
  engine_.reset();
  reopen();
  for (int number = 1'000; number < 1'100; ++number) put_item(number);
  engine_.reset();
  fs::remove(largest(".sst"));
  EXPECT_FALSE(check().sound());
  repair();
  EXPECT_THAT(check().problems.lines(), IsEmpty());
}

// Writes before and after a damaged one in a log are saved. (Of a relaxed store they may go with it.)
TEST_F(StoreRepairTest, SavesWhatIsAroundADamagedWriteInALog) {
  options_.durability = Durability::synced;
  reopen();
  for (int number = 1'000; number < 1'100; ++number) put_item(number);
  const fs::path crashed = directory_.path() / "crashed";
  fs::copy(options_.directory, crashed, fs::copy_options::recursive);
  engine_.reset();
  options_.directory = crashed;
  const fs::path log = largest(".log");
  flip(log, fs::file_size(log) / 2);
  EXPECT_EQ(expect_repairable().lost.count(), 1u);
  EXPECT_EQ(item_count(), repair_items + 101u);
}

// Every item of the other files is there, also between the keys of the damaged one.
TEST_F(StoreRepairTest, DamageInOneFileCostsNothingOfOthers) {
  reopen();
  for (int number = 1'000; number < 1'003; ++number) put_item(number);
  engine_.reset();
  const auto files = files_of(Family::items);
  ASSERT_EQ(files.size(), 2u);
  flip(files.back(), 60);
  const StoreRepair repaired = expect_repairable();
  EXPECT_THAT(repaired.lost.lines(),
              testing::ElementsAre(HasSubstr("file " + files.back().filename().string() + " (items): 3 of 3 records")));
  EXPECT_EQ(item_count(), repair_items + 2u);
}

TEST_F(StoreRepairTest, LosesOnlyTheItemsOfADamagedBlock) {
  engine_.reset();
  const auto files = files_of(Family::items);
  ASSERT_EQ(files.size(), 1u);
  flip(files.front(), 60);
  const StoreRepair repaired = expect_repairable();
  ASSERT_EQ(repaired.lost.count(), 1u);
  const std::string& line = repaired.lost.lines().front();
  const auto lost = std::stoul(line.substr(line.find("(items): ") + 9));
  EXPECT_GT(lost, 0u);
  EXPECT_LT(lost, 100u);  // a block has 8 KB
  EXPECT_EQ(item_count(), repair_items + 2u - lost);
}

TEST_F(StoreRepairTest, DeletedItemsStayDeleted) {
  create(table("drafts", "id:S"));
  put("drafts", R"({"id":{"S":"1"}})");
  reopen();
  ASSERT_TRUE(store().delete_table("drafts"));
  store::DeleteItemRequest request;
  request.table_name = "letters";
  request.key = json(R"({"id":{"S":"7"}})");
  ASSERT_TRUE(store().delete_item(request));
  put_item(8);  // again, with an older version in the first file
  engine_.reset();
  std::ofstream(files_of(Family::items).front(), std::ios::binary | std::ios::app) << 'x';
  EXPECT_THAT(expect_repairable().lost.lines(), IsEmpty());
  EXPECT_EQ(item_count(), repair_items + 1u);
}

// What says where the blocks of a file are can be damaged without loss: they are found by their checksums.
TEST_F(StoreRepairTest, ADamagedEndOfAFileLosesNothing) {
  for (const Family family : {Family::meta, Family::items}) {
    engine_.reset();
    std::ofstream(files_of(family).back(), std::ios::binary | std::ios::app) << 'x';
    EXPECT_THAT(expect_repairable().lost.lines(), IsEmpty());
    EXPECT_EQ(item_count(), repair_items + 2u);
    engine_.reset();
    const fs::path file = files_of(family).front();
    flip(file, fs::file_size(file) - 5);  // in the number that all such files end with
    EXPECT_THAT(expect_repairable().lost.lines(), IsEmpty());
    EXPECT_EQ(item_count(), repair_items + 2u);
  }
}

TEST_F(StoreRepairTest, AFlippedBitBehindTheRecordsLosesNone) {
  engine_.reset();
  const fs::path file = files_of(Family::items).front();
  const std::string sound = file_contents(file);
  const fs::path damaged = directory_.path() / "damaged.sst";
  const auto records_of = [](const fs::path& path, TableFile& table) {
    table = *TableFile::open(path);
    std::uint64_t count = 0;
    table.each_record([&](const Record&) { ++count; });
    return count;
  };
  TableFile table = *TableFile::open(file);
  const std::uint64_t all = records_of(file, table);
  EXPECT_EQ(all, table.record_count());
  EXPECT_TRUE(table.lost().empty());
  for (std::size_t place = 1; place < sound.size(); place += 401) {
    std::string bytes = sound;
    bytes[place] = static_cast<char>(bytes[place] ^ 16);
    std::ofstream(damaged, std::ios::binary | std::ios::trunc) << bytes;
    const std::uint64_t found = records_of(damaged, table);
    EXPECT_EQ(found == all, table.lost().empty()) << place;
    EXPECT_GT(found + 100, all) << place;
  }
  for (std::size_t from_end = 1; from_end < 1'000; from_end += 13) {
    std::string bytes = sound;
    bytes[bytes.size() - from_end] = static_cast<char>(bytes[bytes.size() - from_end] ^ 16);
    std::ofstream(damaged, std::ios::binary | std::ios::trunc) << bytes;
    EXPECT_EQ(records_of(damaged, table), all) << from_end;
    EXPECT_TRUE(table.lost().empty()) << from_end;
  }
}

// Its items show what their key is.
TEST_F(StoreRepairTest, ATableWhoseRecordIsLostKeepsItsItems) {
  engine_.reset();
  for (const fs::path& file : files_of(Family::meta)) flip(file, 60);
  EXPECT_FALSE(check().sound());
  const StoreRepair repaired = repair();
  EXPECT_THAT(repaired.lost.lines(), Contains(HasSubstr("its 401 items of the key id are in the table lost-table-1")));
  EXPECT_EQ(repaired.saved.items, repair_items + 1u);
  EXPECT_EQ(file_contents(repaired.kept_in / "LOST").find(repaired.lost.lines().front()), 0u);
  reopen();
  EXPECT_EQ(scan_everything(store(), "lost-table-1").size(), repair_items + 1u);
  EXPECT_THAT(check_table(store(), "lost-table-1"), IsEmpty());
}

// A service knows how it made its tables. Of two that may be meant none is guessed.
TEST_F(StoreRepairTest, AKnownTableGetsItsRecordBack) {
  engine_.reset();
  for (const fs::path& file : files_of(Family::meta)) flip(file, 60);
  const fs::path other = directory_.path() / "other";
  fs::copy(options_.directory, other, fs::copy_options::recursive);
  std::vector<store::TableSetup> known = {{store::table_request("letters", {{"id", item::Type::string}}), "expires"}};
  const auto repaired = repair_store(options_.directory, std::nullopt, *clock_, known);
  ASSERT_TRUE(repaired) << repaired.error().message;
  EXPECT_EQ(repaired->saved.items, repair_items + 1u);
  EXPECT_EQ(repaired->saved.expiry_entries, static_cast<std::uint64_t>(repair_items));
  known.push_back({store::table_request("postcards", {{"id", item::Type::string}}), ""});
  EXPECT_THAT(repair_store(other, std::nullopt, *clock_, known)->lost.lines(), Contains(HasSubstr("lost-table-1")));
  reopen();
  EXPECT_EQ(item_count(), repair_items + 1u);
  EXPECT_THAT(check_table(store(), "letters"), IsEmpty());
}

// After a clean stop the record of files says which there were.
TEST_F(StoreRepairTest, SavesEverythingWithACutListOfFiles) {
  engine_.reset();
  for (const auto& entry : fs::directory_iterator(options_.directory / "store"))
    if (entry.path().filename().string().starts_with("MANIFEST"))
      fs::resize_file(entry.path(), entry.file_size() * 6 / 10);
  EXPECT_THAT(expect_repairable().lost.lines(), IsEmpty());
  EXPECT_EQ(item_count(), repair_items + 2u);
}

TEST_F(StoreRepairTest, ListsMissingFiles) {
  engine_.reset();
  const fs::path file = files_of(Family::items).front();
  fs::remove(file);
  EXPECT_FALSE(check().sound());
  EXPECT_THAT(repair().lost.lines(),
              testing::ElementsAre("file " + file.filename().string() + ": all of it, it is missing"));
}

TEST_F(StoreRepairTest, ListsAMissingLog) {
  crash();
  const fs::path log = largest(".log");
  fs::remove(log);
  EXPECT_THAT(repair().lost.lines(), Contains("log " + log.filename().string() + ": all of it, it is missing"));
}

TEST_F(StoreRepairTest, ADamagedNameOfTheListLosesNothing) {
  crash();
  flip(options_.directory / "store" / "CURRENT", 3);
  EXPECT_THAT(expect_repairable().lost.lines(), IsEmpty());
  EXPECT_EQ(item_count(), repair_items + 2u);
}

// A manifest is a log as well, with good checksums and other contents.
TEST_F(StoreRepairTest, ARecordThatHoldsNoWritesIsListed) {
  crash();
  const fs::path log = largest(".log");
  for (const auto& entry : fs::directory_iterator(options_.directory / "store"))
    if (entry.path().filename().string().starts_with("MANIFEST"))
      fs::copy_file(entry.path(), log, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(check().sound());
  EXPECT_THAT(repair().lost.lines(), Contains(HasSubstr("that hold no writes")));
}

TEST_F(StoreRepairTest, APlaceThatCannotBeMadeChangesNothing) {
  engine_.reset();
  flip(files_of(Family::items).front(), 60);
  const auto before = all_bytes();
  EXPECT_FALSE(repair_store(options_.directory, directory_.path() / "no" / "such", *clock_));
  EXPECT_FALSE(repair_store(options_.directory, directory_.path(), *clock_));
  EXPECT_EQ(all_bytes(), before);
  EXPECT_FALSE(is_recount_due(options_.directory));
  const fs::path place = directory_.path() / "kept";
  const auto repaired = repair_store(options_.directory, place, *clock_);
  ASSERT_TRUE(repaired) << repaired.error().message;
  EXPECT_EQ(repaired->kept_in, place);
  EXPECT_TRUE(fs::exists(place / "store" / "CURRENT"));
}

// Its process ended when the new store was in its place, and the record of its files was not.
TEST_F(StoreRepairTest, AnInterruptedRepairIsFinished) {
  engine_.reset();
  flip(files_of(Family::items).front(), 60);
  const fs::path damaged = repair().kept_in;
  const fs::path work = options_.directory / "repairing";
  fs::create_directories(work / "new");
  fs::rename(options_.directory / "STATE", work / "new" / "STATE");
  fs::copy_file(damaged / "STATE", options_.directory / "STATE");
  EXPECT_FALSE(check().sound());
  const StoreRepair finished = repair();
  EXPECT_FALSE(finished.needed);
  EXPECT_TRUE(finished.recount_due);
  EXPECT_EQ(finished.notes.size(), 1u);
  EXPECT_FALSE(fs::exists(work));
  EXPECT_TRUE(check().sound());
  EXPECT_TRUE(fs::exists(damaged / "store" / "CURRENT"));
}

// What services count themselves goes on counting what is lost, until they say that they have counted again.
TEST_F(StoreRepairTest, ALossIsToBeCountedUntilItWas) {
  engine_.reset();
  flip(files_of(Family::items).front(), 60);
  EXPECT_FALSE(is_recount_due(options_.directory));
  EXPECT_TRUE(repair().recount_due);
  EXPECT_TRUE(repair().recount_due) << "the process may have ended before it had counted";
  EXPECT_THAT(check().notes, Contains(HasSubstr("RECOUNT")));
  EXPECT_TRUE(check().sound());
  EXPECT_TRUE(note_recounted(options_.directory));
  EXPECT_TRUE(note_recounted(options_.directory)) << "again";
  EXPECT_FALSE(repair().recount_due);
  EXPECT_THAT(check().notes, IsEmpty());
  EXPECT_TRUE(note_recount_due(options_.directory)) << "a service has found a count that is wrong";
  EXPECT_TRUE(repair().recount_due);
}

TEST_F(StoreRepairTest, WithoutALossNothingIsToBeCounted) {
  engine_.reset();
  fs::remove(options_.directory / "store" / "CURRENT");
  EXPECT_FALSE(repair().recount_due);
}

// The new store is in its place, and the record of its files is not: the next repair finishes this one.
TEST_F(StoreRepairTest, AFailureAfterTheExchangeIsNoFailureOfTheRepair) {
  engine_.reset();
  flip(files_of(Family::items).front(), 60);
  const fs::path in_the_way = options_.directory / "STATE";
  const std::string record = file_contents(in_the_way);
  fs::remove(in_the_way);
  fs::create_directory(in_the_way);
  const auto repaired = repair_store(options_.directory, std::nullopt, *clock_);
  ASSERT_TRUE(repaired) << repaired.error().message;
  EXPECT_THAT(repaired->unfinished, HasSubstr("STATE"));
  EXPECT_TRUE(repaired->recount_due);
  EXPECT_TRUE(fs::exists(repaired->kept_in / "store" / "CURRENT"));
  fs::remove(in_the_way);
  put_contents(in_the_way, record);
  const StoreRepair finished = repair();
  EXPECT_FALSE(finished.needed);
  EXPECT_EQ(finished.unfinished, "");
  EXPECT_TRUE(finished.recount_due);
  EXPECT_TRUE(check().sound());
}

TEST_F(StoreRepairTest, NoRepairRemovesADamagedStore) {
  engine_.reset();
  flip(files_of(Family::items).front(), 60);
  const fs::path former = options_.directory / "repair" / "store";
  fs::create_directories(former);
  std::ofstream(former / "original") << "x";
  const fs::path first = repair().kept_in;
  flip(files_of(Family::items).front(), 60);
  const fs::path second = repair().kept_in;
  EXPECT_NE(first, second);
  EXPECT_TRUE(fs::exists(first / "store" / "CURRENT"));
  EXPECT_TRUE(fs::exists(second / "store" / "CURRENT"));
  int originals = 0;
  for (const auto& entry : fs::recursive_directory_iterator(options_.directory))
    if (entry.path().filename() == "original") ++originals;
  EXPECT_EQ(originals, 1);
}

TEST_F(StoreRepairTest, WritesALostMarkerAnew) {
  engine_.reset();
  fs::remove(options_.directory / "POSTINO");
  EXPECT_THAT(check().problems.lines(), testing::ElementsAre("POSTINO: is missing or damaged"));
  const StoreRepair repaired = repair();
  EXPECT_TRUE(repaired.needed);
  EXPECT_TRUE(repaired.kept_in.empty());
  EXPECT_TRUE(repaired.lost.empty());
  reopen();
  EXPECT_EQ(item_count(), repair_items + 1u);
}

TEST_F(StoreRepairTest, ComesToTheEndOfTheLastNumber) {
  change_behind([](Database& database, rocksdb::WriteBatch& batch) {
    batch.Put(database.handle(Family::items), id_prefix(0xFFFFFFFF) + "stray", "x");
  });
  EXPECT_THAT(check().problems.lines(), Contains(HasSubstr("items of number 4294967295")));
  expect_repairable();
}

}  // namespace
}  // namespace postino::engine
