#include "engine/storage/database.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/many_threads_testing.h"
#include "base/temporary_directory.h"
#include "engine/memory_directory_testing.h"

namespace postino::engine {
namespace {

class DatabaseTest : public testing::Test {
 protected:
  DatabaseTest() {
    options_.directory = directory_.path() / "data";
    options_.durability = Durability::relaxed;
    options_.memtable_bytes = 64 << 20;
  }
  void open() {
    auto opened = Database::open(options_, nullptr);
    ASSERT_TRUE(opened) << opened.error().message;
    database_ = *std::move(opened);
  }
  // As many bytes go into each of three families.
  void write(int number, std::size_t bytes) {
    rocksdb::WriteBatch batch;
    for (const Family family : {Family::items, Family::indexes, Family::streams})
      batch.Put(database_->handle(family), std::to_string(number), std::string(bytes, 'x'));
    ASSERT_TRUE(database_->write(batch));
  }
  std::uint64_t in_memtables() const {
    std::uint64_t bytes = 0;
    EXPECT_TRUE(database_->rocks().GetAggregatedIntProperty("rocksdb.cur-size-all-mem-tables", &bytes));
    return bytes;
  }

  const base::TemporaryDirectory directory_{memory_directory()};
  Options options_;
  std::unique_ptr<Database> database_;
};

TEST_F(DatabaseTest, MemtablesOfAllFamiliesTogetherHaveALimit) {
  options_.all_memtables_bytes = 4 << 20;
  open();
  for (int i = 0; i < 100; ++i) write(i, 64 << 10);
  // They are written out in the background.
  EXPECT_TRUE(base::eventually([&] { return in_memtables() < 8U << 20; })) << "and no family has as much as it may";
}

TEST_F(DatabaseTest, MemtablesTakeTheirMemoryFromTheCache) {
  options_.block_cache_bytes = 32 << 20;
  open();
  for (int i = 0; i < 10; ++i) write(i, 256 << 10);
  std::uint64_t used = 0;
  ASSERT_TRUE(database_->rocks().GetIntProperty("rocksdb.block-cache-usage", &used));
  EXPECT_GT(used, 7U << 20);
}

TEST_F(DatabaseTest, WritesOutWhatIsInMemoryWhenItIsIdle) {
  using std::chrono::seconds;
  open();
  for (int i = 0; i < 10; ++i) write(i, 256 << 10);
  database_->write_out_when_idle(seconds(100));
  database_->write_out_when_idle(seconds(109));
  EXPECT_GT(in_memtables(), 7U << 20);
  write(10, 256 << 10);
  database_->write_out_when_idle(seconds(111));
  EXPECT_GT(in_memtables(), 7U << 20) << "it is busy again";
  write(11, 1);
  database_->write_out_when_idle(seconds(121));
  EXPECT_LT(in_memtables(), 4U << 20);
  write(12, 1);
  const std::uint64_t little = in_memtables();
  database_->write_out_when_idle(seconds(200));
  EXPECT_EQ(in_memtables(), little) << "not worth a file";
  EXPECT_TRUE(database_->get(Family::items, "3").value());
}

// Stores of earlier versions have fewer families.
TEST_F(DatabaseTest, AFamilyThatIsNotThereIsMade) {
  open();
  write(1, 10);
  ASSERT_TRUE(database_->rocks().DropColumnFamily(database_->handle(Family::undo)).ok());
  database_.reset();
  open();
  EXPECT_EQ(database_->get(Family::items, "1").value().value().ToString(), std::string(10, 'x'));
  EXPECT_EQ(database_->handle(Family::undo)->GetName(), "undo");
  rocksdb::WriteBatch batch;
  batch.Put(database_->handle(Family::undo), "key", "value");
  ASSERT_TRUE(database_->write(batch));
  database_.reset();
  open();
  EXPECT_EQ(database_->get(Family::undo, "key").value().value().ToString(), "value");
}

}  // namespace
}  // namespace postino::engine
