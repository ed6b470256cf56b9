// The RocksDB database under the engine: its column families, its settings, and its errors as ours.
#pragma once

#include <rocksdb/db.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/storage/data_directory.h"
#include "engine/storage/empty_ranges.h"
#include "engine/storage/options.h"
#include "engine/storage/store_env.h"
#include "engine/storage/write_gate.h"

namespace postino::engine {

// By kind of data; what the keys and values look like is in docs/formats.md.
enum class Family : std::uint8_t {
  meta,     // catalog, statistics, counters
  items,    // the items of all tables
  indexes,  // entries of global and local indexes
  expiry,   // items with a time to live, by the second they expire
  streams,  // change records
  tokens,   // client request tokens of transactions
  undo,     // what was there before changes, of tables with point-in-time recovery
};
inline constexpr std::size_t family_count = 7;

// Their names in RocksDB. It numbers them in this order.
inline constexpr std::array<const char*, family_count> family_names = {"default", "items",  "indexes", "expiry",
                                                                       "streams", "tokens", "undo"};

base::Error error_from(const rocksdb::Status& status);

class Database {
 public:
  // Takes the directory for this process. Fails when another process has it, when it holds something else, when a newer
  // version wrote it, or when its files are damaged; then nothing is changed, or the message says what was. `env` (not
  // owned; nullptr for the real one) lets a test stand between RocksDB and the disk.
  static base::Result<std::unique_ptr<Database>> open(const Options& options, rocksdb::Env* env);
  // Writes out what is in memory and in the log, and records that the store was closed.
  ~Database();

  // Empty when there is no such key.
  base::Result<std::optional<rocksdb::PinnableSlice>> get(Family family, std::string_view key,
                                                          const rocksdb::Snapshot* snapshot = nullptr) const;

  // Iterates keys in [lower, upper). Both must outlive the iterator. A step that has to skip more than `most_skipped`
  // keys (0: any number) ends the iteration with the status Incomplete.
  std::unique_ptr<rocksdb::Iterator> iterate(Family family, const rocksdb::Slice& lower, const rocksdb::Slice& upper,
                                             const rocksdb::Snapshot* snapshot = nullptr,
                                             std::uint64_t most_skipped = 0) const;

  // One batch at a time. Refused, without harm, while the disk is nearly full. After a fault of the disk every further
  // write is refused: what RocksDB and the operating system hold in memory can no longer be trusted to reach the disk,
  // and opening the store again is what finds out.
  base::Result<void> write(rocksdb::WriteBatch& batch);
  // A small write that opening needs: also while the disk is nearly full, so that reads work.
  base::Result<void> write_into_reserve(rocksdb::WriteBatch& batch);

  // Lets writes be taken again when there is room; for a thread that calls it now and then, so that no caller must.
  void look_at_disk() { static_cast<void>(gate_->check()); }
  WriteHealth health() const { return gate_->health(); }
  // Writes out what is in memory when hardly anything was written for ten seconds: a stop is quick then, and the memory
  // is free. For one thread, which calls it now and then with the time of a monotonic clock. Failing is harmless: it is
  // in the log.
  void write_out_when_idle(base::Milliseconds now);
  // Was there no store before it was opened?
  bool is_new() const { return is_new_; }
  // Any thread.
  WriteCounts counts() const { return {commits_, keys_, bytes_}; }

  // Clears away what was removed from [lower, upper), so that iterators need not step over it. Takes a while; failing
  // is harmless.
  void compact(Family family, const rocksdb::Slice& lower, const rocksdb::Slice& upper);

  // Of the family of indexes.
  EmptyRanges& empty_ranges() { return empty_ranges_; }

  rocksdb::ColumnFamilyHandle* handle(Family family) const { return handles_[static_cast<std::size_t>(family)]; }
  rocksdb::DB& rocks() const { return *db_; }
  const std::filesystem::path& directory() const { return directory_; }
  Durability durability() const { return durability_; }

 private:
  Database() = default;
  base::Result<void> open_in_directory(const Options& options, rocksdb::Env* env);
  base::Result<void> prepare_files(const Options& options, rocksdb::Env* env);
  base::Result<void> open_rocks(const Options& options);
  rocksdb::Status open_families(const rocksdb::DBOptions& options,
                                const std::vector<rocksdb::ColumnFamilyDescriptor>& families);
  base::Error refused(const rocksdb::Status& status);
  bool flush();
  void record_close();

  DataDirectoryLock lock_;  // given up last
  std::shared_ptr<LogRegister> logs_;
  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<WriteGate> gate_;
  std::unique_ptr<rocksdb::DB> db_;
  std::array<rocksdb::ColumnFamilyHandle*, family_count> handles_{};
  bool is_new_ = false;  // there was no store before
  rocksdb::WriteOptions write_options_;
  EmptyRanges empty_ranges_;
  std::atomic<std::uint64_t> commits_ = 0;
  std::atomic<std::uint64_t> keys_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
  base::Milliseconds idle_since_{0};
  std::uint64_t idle_bytes_ = 0;  // of bytes_, then
  std::filesystem::path directory_;
  Durability durability_ = Durability::synced;
  // Before RocksDB opened them.
  std::vector<KnownFile> files_before_;
  std::optional<std::string> state_before_;  // the record of files
  bool has_cut_logs_ = false;
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
