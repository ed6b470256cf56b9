#include "engine/storage/database.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/temporary_directory.h"
#include "engine/memory_directory_testing.h"

namespace postino::engine {
namespace {

// Waits for it: memtables are written out in the background.
bool comes_below(const Database& database, std::uint64_t limit) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  for (std::uint64_t bytes = limit; std::chrono::steady_clock::now() < end; std::this_thread::yield())
    if (database.rocks().GetAggregatedIntProperty("rocksdb.cur-size-all-mem-tables", &bytes) && bytes < limit)
      return true;
  return false;
}

TEST(DatabaseTest, MemtablesOfAllFamiliesTogetherHaveALimit) {
  const base::TemporaryDirectory directory(memory_directory());
  Options options;
  options.directory = directory.path() / "data";
  options.durability = Durability::relaxed;
  options.memtable_bytes = 64 << 20;
  options.all_memtables_bytes = 4 << 20;
  const auto database = Database::open(options, nullptr);
  ASSERT_TRUE(database) << database.error().message;
  constexpr int writes = 100;
  for (int i = 0; i < writes; ++i) {
    rocksdb::WriteBatch batch;
    for (const Family family : {Family::items, Family::indexes, Family::streams})
      batch.Put((*database)->handle(family), std::to_string(i), std::string(64 << 10, 'x'));
    ASSERT_TRUE((*database)->write(batch));
  }
  EXPECT_TRUE(comes_below(**database, 8 << 20)) << "and no family has as much as it may";
}

}  // namespace
}  // namespace postino::engine
