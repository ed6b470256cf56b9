// The RocksDB database under the engine: its column families, its settings, and its errors as ours.
#pragma once

#include <rocksdb/db.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/storage/data_directory.h"
#include "engine/storage/options.h"

namespace postino::engine {

// By kind of data; what the keys and values look like is in docs/formats.md.
enum class Family : std::uint8_t {
  meta,     // catalog, statistics, counters
  items,    // the items of all tables
  indexes,  // entries of global and local indexes
  expiry,   // items with a time to live, by the second they expire
  streams,  // change records
  tokens,   // client request tokens of transactions
};
inline constexpr std::size_t family_count = 6;

base::Error error_from(const rocksdb::Status& status);

class Database {
 public:
  // Takes the directory for this process. Fails when another process has it, when it holds something else, or when a
  // newer version wrote it. `env` (not owned; nullptr for the real one) lets a test stand between RocksDB and the disk.
  static base::Result<std::unique_ptr<Database>> open(const Options& options, rocksdb::Env* env);
  ~Database();

  // Empty when there is no such key.
  base::Result<std::optional<rocksdb::PinnableSlice>> get(Family family, std::string_view key,
                                                          const rocksdb::Snapshot* snapshot = nullptr) const;

  // Iterates keys in [lower, upper). Both must outlive the iterator.
  std::unique_ptr<rocksdb::Iterator> iterate(Family family, const rocksdb::Slice& lower, const rocksdb::Slice& upper,
                                             const rocksdb::Snapshot* snapshot = nullptr) const;

  // One batch at a time. Refused, without harm, while the disk is nearly full. After a fault of the disk every further
  // write is refused: what RocksDB and the operating system hold in memory can no longer be trusted to reach the disk,
  // and opening the store again is what finds out.
  base::Result<void> write(rocksdb::WriteBatch& batch);

  // Clears away what was removed from [lower, upper), so that iterators need not step over it. Takes a while; failing
  // is harmless.
  void compact(Family family, const rocksdb::Slice& lower, const rocksdb::Slice& upper);

  rocksdb::ColumnFamilyHandle* handle(Family family) const { return handles_[static_cast<std::size_t>(family)]; }
  rocksdb::DB& rocks() const { return *db_; }

 private:
  Database() = default;
  base::Result<void> check_free_space();

  DataDirectoryLock lock_;  // given up last
  std::unique_ptr<rocksdb::DB> db_;
  std::array<rocksdb::ColumnFamilyHandle*, family_count> handles_{};
  rocksdb::WriteOptions write_options_;
  std::string path_;
  std::uint64_t min_free_bytes_ = 0;
  std::chrono::steady_clock::time_point next_space_check_;
  bool nearly_full_ = false;
  bool failed_ = false;
};

// A point in time, released when it goes out of scope.
class Snapshot {
 public:
  explicit Snapshot(const Database& database) : db_(&database.rocks()), snapshot_(db_->GetSnapshot()) {}
  ~Snapshot() { db_->ReleaseSnapshot(snapshot_); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  const rocksdb::Snapshot* get() const { return snapshot_; }

 private:
  rocksdb::DB* db_;
  const rocksdb::Snapshot* snapshot_;
};

}  // namespace postino::engine
