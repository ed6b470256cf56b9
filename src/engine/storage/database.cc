#include "engine/storage/database.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_manager.h>
#include <rocksdb/table.h>

#include <algorithm>

namespace postino::engine {

namespace {

constexpr std::array<const char*, family_count> family_names = {"default", "items",   "indexes",
                                                                "expiry",  "streams", "tokens"};

// After a fault the store is opened again. RocksDB's own attempt to go on can end the process, when it finds that the
// failed log is all it has.
class NoRecovery final : public rocksdb::EventListener {
 public:
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status, bool* auto_recovery) override {
    *auto_recovery = false;
  }
};

rocksdb::DBOptions database_options(const Options& options, rocksdb::Env* env) {
  rocksdb::DBOptions result;
  if (env != nullptr) result.env = env;
  result.create_if_missing = true;
  result.create_missing_column_families = true;
  result.max_total_wal_size = 256 << 20;
  result.max_background_jobs = 2;
  result.bytes_per_sync = 1 << 20;
  result.max_open_files = 1024;
  result.keep_log_file_num = 2;
  result.info_log_level = rocksdb::WARN_LEVEL;
  result.stats_dump_period_sec = 0;
  result.max_bgerror_resume_count = 0;
  result.listeners.push_back(std::make_shared<NoRecovery>());
  result.stats_persist_period_sec = 0;
  // The log holds what a flush at shutdown would write; opening replays it.
  result.avoid_flush_during_shutdown = options.durability == Durability::synced;
  // Unlinking a large file stalls every commit on some file systems: spread it out.
  constexpr std::int64_t deletion_bytes_per_second = 256 << 20;
  result.sst_file_manager.reset(rocksdb::NewSstFileManager(result.env, result.info_log, "", deletion_bytes_per_second));
  return result;
}

rocksdb::ColumnFamilyOptions family_options(const Options& options, const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.format_version = 5;
  table.block_size = 8 << 10;
  rocksdb::ColumnFamilyOptions result;
  result.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  result.write_buffer_size = options.memtable_bytes;
  result.compression = rocksdb::kLZ4Compression;
  result.bottommost_compression = rocksdb::kZSTD;
  result.level_compaction_dynamic_level_bytes = true;
  return result;
}

// Every write first reads its item, and most items are new: a filter saves the search in the memtable.
void filter_memtable(rocksdb::ColumnFamilyOptions& options) {
  options.memtable_whole_key_filtering = true;
  options.memtable_prefix_bloom_size_ratio = 0.02;
}

// Queues and listings are written in their order: where the last entry of a partition went is where the next one goes.
void expect_order(rocksdb::ColumnFamilyOptions& options) {
  constexpr std::size_t partition_bytes = 8;  // number of the index and hash of the partition
  options.memtable_insert_with_hint_prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(partition_bytes));
}

}  // namespace

base::Error error_from(const rocksdb::Status& status) {
  const base::ErrorCode code = status.IsCorruption() ? base::ErrorCode::corrupt : base::ErrorCode::io;
  return {code, "the store's disk failed: " + status.ToString()};
}

base::Result<std::unique_ptr<Database>> Database::open(const Options& options, rocksdb::Env* env) {
  std::unique_ptr<Database> database(new Database);
  TRY_VOID(prepare_data_directory(options.directory));
  TRY(database->lock_, DataDirectoryLock::take(options.directory));
  TRY_VOID(prepare_store_directory(options.directory));
  const auto cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const char* name : family_names) families.emplace_back(name, family_options(options, cache));
  filter_memtable(families[static_cast<std::size_t>(Family::items)].options);
  expect_order(families[static_cast<std::size_t>(Family::indexes)].options);

  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(
      database_options(options, env), store_directory(options.directory).string(), families, &handles, &db);
  if (!status.ok()) return base::propagate(error_from(status));
  database->db_.reset(db);
  std::copy(handles.begin(), handles.end(), database->handles_.begin());
  database->path_ = store_directory(options.directory).string();
  database->min_free_bytes_ = options.min_free_bytes;
  database->write_options_.sync = options.durability == Durability::synced;
  return database;
}

Database::~Database() {
  if (!db_) return;
  for (rocksdb::ColumnFamilyHandle* handle : handles_) db_->DestroyColumnFamilyHandle(handle);
  db_->Close();
}

base::Result<std::optional<rocksdb::PinnableSlice>> Database::get(Family family, std::string_view key,
                                                                  const rocksdb::Snapshot* snapshot) const {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  rocksdb::PinnableSlice value;
  const rocksdb::Status status = db_->Get(options, handle(family), rocksdb::Slice(key.data(), key.size()), &value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return base::propagate(error_from(status));
  return std::optional<rocksdb::PinnableSlice>(std::move(value));
}

std::unique_ptr<rocksdb::Iterator> Database::iterate(Family family, const rocksdb::Slice& lower,
                                                     const rocksdb::Slice& upper,
                                                     const rocksdb::Snapshot* snapshot) const {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  options.auto_prefix_mode = false;
  options.total_order_seek = true;
  return std::unique_ptr<rocksdb::Iterator>(db_->NewIterator(options, handle(family)));
}

// A full disk is met before RocksDB meets it, because it does not get over that.
base::Result<void> Database::check_free_space() {
  const auto now = std::chrono::steady_clock::now();
  if (now >= next_space_check_) {
    next_space_check_ = now + std::chrono::milliseconds(100);
    std::uint64_t free = 0;
    const rocksdb::IOStatus status =
        db_->GetEnv()->GetFileSystem()->GetFreeSpace(path_, rocksdb::IOOptions(), &free, nullptr);
    nearly_full_ = status.ok() && free < min_free_bytes_;
  }
  if (!nearly_full_) return {};
  return base::fail(base::ErrorCode::exhausted, "the disk of the data directory has less than " +
                                                    std::to_string(min_free_bytes_ >> 20) +
                                                    " MB left: writes are refused until there is more");
}

base::Result<void> Database::write(rocksdb::WriteBatch& batch) {
  if (failed_)
    return base::fail(base::ErrorCode::io,
                      "the store's disk failed before: writes are refused until the store is opened again");
  TRY_VOID(check_free_space());
  const rocksdb::Status status = db_->Write(write_options_, &batch);
  if (status.ok()) return {};
  failed_ = true;
  return base::propagate(error_from(status));
}

void Database::compact(Family family, const rocksdb::Slice& lower, const rocksdb::Slice& upper) {
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = false;
  // Without this a file may just be moved to the bottom, with all that was removed in it.
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  db_->CompactRange(options, handle(family), &lower, &upper).PermitUncheckedError();
}

}  // namespace postino::engine
