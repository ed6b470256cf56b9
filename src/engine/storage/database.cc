#include "engine/storage/database.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_manager.h>
#include <rocksdb/table.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/log.h"
#include "engine/storage/store_files.h"

namespace postino::engine {

namespace {

// What RocksDB warns of belongs into the log of the process, where it is seen, and not into a file of its own.
class ProcessLog final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override { Logv(rocksdb::INFO_LEVEL, format, arguments); }
  void Logv(rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (level < rocksdb::WARN_LEVEL || level > rocksdb::FATAL_LEVEL) return;
    std::array<char, 1024> text;
    std::vsnprintf(text.data(), text.size(), format, arguments);
    base::log_warning("rocksdb", text.data());
  }
};

rocksdb::DBOptions database_options(const Options& options, const std::shared_ptr<rocksdb::Cache>& cache,
                                    rocksdb::Env* env, WriteGate& gate) {
  rocksdb::DBOptions result;
  result.env = env;
  result.create_if_missing = true;
  result.create_missing_column_families = true;
  result.max_total_wal_size = 256 << 20;
  // Memtables take their memory from the cache: what was written last is also what is read most.
  result.write_buffer_manager = std::make_shared<rocksdb::WriteBufferManager>(options.all_memtables_bytes, cache);
  result.max_background_jobs = 2;
  result.bytes_per_sync = 1 << 20;
  result.max_open_files = 1024;
  result.info_log = std::make_shared<ProcessLog>();
  result.info_log_level = rocksdb::WARN_LEVEL;
  // The logs were looked at before, and what a crash left unfinished was cut off. Whatever RocksDB still finds is
  // damage.
  result.wal_recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;
  result.stats_dump_period_sec = 0;
  result.max_bgerror_resume_count = 0;
  result.listeners.push_back(gate.listener());
  result.stats_persist_period_sec = 0;
  result.avoid_flush_during_shutdown = true;  // close() does it, and sees whether it succeeds
  // Unlinking a large file stalls every commit on some file systems: spread it out.
  constexpr std::int64_t deletion_bytes_per_second = 256 << 20;
  result.sst_file_manager.reset(rocksdb::NewSstFileManager(result.env, result.info_log, "", deletion_bytes_per_second));
  return result;
}

bool is_read_by_key(Family family) {
  return family == Family::meta || family == Family::items || family == Family::tokens;
}

rocksdb::ColumnFamilyOptions family_options(Family family, const Options& options,
                                            const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  // A filter answers for a key that is not there; its memory grows with the store. Entries of indexes, of expiry and of
  // streams are only ever read in their order.
  if (is_read_by_key(family)) table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.format_version = 5;
  table.block_size = 8 << 10;
  rocksdb::ColumnFamilyOptions result;
  result.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  result.write_buffer_size = options.memtable_bytes;
  // Also of the oldest tables: Zstandard makes the store of an outbox 6 % smaller, and merging tables takes twice the
  // time.
  result.compression = rocksdb::kLZ4Compression;
  // Merging tables takes a third of the processor time of a busy outbox whose store has grown. So the levels that are
  // merged most often are not compressed; contents of e-mails are already.
  result.compression_per_level = {rocksdb::kNoCompression, rocksdb::kNoCompression, rocksdb::kLZ4Compression};
  result.level_compaction_dynamic_level_bytes = true;
  return result;
}

// Items are most of the bytes, and are found by filters, however many tables there are: more of them are merged at a
// time.
void merge_less_often(rocksdb::ColumnFamilyOptions& options) {
  options.level0_file_num_compaction_trigger = 8;
  options.max_bytes_for_level_base = 512 << 20;
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
  database->directory_ = options.directory;
  database->durability_ = options.durability;
  database->gate_ = std::make_unique<WriteGate>(store_directory(options.directory), options);
  database->write_options_.sync = options.durability == Durability::synced;
  std::error_code unknown;
  const bool is_missing = !std::filesystem::exists(options.directory, unknown) && !unknown;
  auto opened = database->open_in_directory(options, env);
  if (opened) return database;
  // The lock says that no other process has come in between.
  if (is_missing && database->is_new_) std::filesystem::remove_all(options.directory, unknown);
  return base::propagate(opened.error());
}

base::Result<void> Database::open_in_directory(const Options& options, rocksdb::Env* env) {
  TRY_VOID(prepare_data_directory(options.directory));
  TRY(lock_, DataDirectoryLock::take(options.directory));
  TRY_VOID(refuse_interrupted_repair(options.directory));
  TRY_VOID(prepare_files(options, env != nullptr ? env : rocksdb::Env::Default()));
  return open_rocks(options);
}

// Damage is found before anything is changed, but for what only RocksDB finds.
base::Result<void> Database::prepare_files(const Options& options, rocksdb::Env* env) {
  TRY(const StoreFiles files, inspect_store_files(directory_, options.verified_at_start_bytes));
  is_new_ = !files.exists;
  if (!files.faults.empty()) return base::propagate(damage_error(directory_, files.faults));
  TRY_VOID(prepare_store_directory(directory_));
  make_private(directory_);
  TRY_VOID(finish_logs(directory_, files));
  has_cut_logs_ = !files.unfinished.empty();
  TRY(std::vector<KnownFile> logs, synced_logs(directory_, files, options.durability));
  TRY(files_before_, list_store_files(directory_));
  TRY(state_before_, read_state_text(directory_));
  logs_ = std::make_shared<LogRegister>(env->GetFileSystem(), directory_, options.durability, std::move(logs));
  // The record of a new store is made with its first log: from then on it must have files.
  if (files.exists)
    if (const rocksdb::IOStatus saved = logs_->save(); !saved.ok()) return base::propagate(error_from(saved));
  env_ = make_store_env(env, logs_);
  return {};
}

base::Result<void> Database::open_rocks(const Options& options) {
  const auto cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (std::size_t i = 0; i < family_count; ++i)
    families.emplace_back(family_names[i], family_options(static_cast<Family>(i), options, cache));
  filter_memtable(families[static_cast<std::size_t>(Family::items)].options);
  merge_less_often(families[static_cast<std::size_t>(Family::items)].options);
  expect_order(families[static_cast<std::size_t>(Family::indexes)].options);
  const rocksdb::Status status = open_families(database_options(options, cache, env_.get(), *gate_), families);
  if (!status.ok()) return base::propagate(refused(status));
  gate_->watch(*db_);
  return {};
}

// RocksDB writes all options to a file, and reads it again, each time when it has made column families. In a new store
// they are therefore made together, after it is opened with the first one alone. A store that a crash has left without
// some of them gets these with the next start.
rocksdb::Status Database::open_families(const rocksdb::DBOptions& options,
                                        const std::vector<rocksdb::ColumnFamilyDescriptor>& families) {
  const auto rest = is_new_ ? families.begin() + 1 : families.end();
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  rocksdb::Status status =
      rocksdb::DB::Open(options, store_directory(directory_).string(), {families.begin(), rest}, &handles, &db);
  if (!status.ok()) return status;
  if (rest != families.end()) {
    std::vector<rocksdb::ColumnFamilyHandle*> made;
    status = db->CreateColumnFamilies({rest, families.end()}, &made);
    handles.insert(handles.end(), made.begin(), made.end());
  }
  if (!status.ok()) {
    for (rocksdb::ColumnFamilyHandle* handle : handles) db->DestroyColumnFamilyHandle(handle);
    delete db;
    return status;
  }
  db_.reset(db);
  std::copy(handles.begin(), handles.end(), handles_.begin());
  return status;
}

// RocksDB has not opened the store. Unless it has begun to change files, the record of them is put back: it may have
// been that of a clean stop, which knows more.
base::Error Database::refused(const rocksdb::Status& status) {
  const auto files = list_store_files(directory_);
  const bool restored =
      files && *files == files_before_ && write_state_text(*env_->GetFileSystem(), directory_, state_before_).ok();
  if (!status.IsCorruption()) return error_from(status);
  const char* const changed = !restored       ? "RocksDB has begun to open it; no record in it was changed"
                              : has_cut_logs_ ? "Only what a crash had left unfinished in the log was cut off"
                                              : "Nothing was changed";
  return damage_error(directory_, status.ToString(), changed);
}

Database::~Database() {
  if (!db_) return;
  if (!gate_->end()) {
    // To close it would wait for good. Everything that was acknowledged is in the log.
    base::log_error("store",
                    "the store could not be closed, because it does not go on after a full disk; the next start"
                    " will replay the log");
    static_cast<void>(db_.release());
    static_cast<void>(env_.release());
    return;
  }
  const bool flushed = flush();
  for (rocksdb::ColumnFamilyHandle* handle : handles_) db_->DestroyColumnFamilyHandle(handle);
  const bool closed = db_->Close().ok();
  db_.reset();
  if (flushed && closed) record_close();
}

// What the logs hold goes into tables, so that the next start need not replay it, and an empty log cannot be damaged.
bool Database::flush() {
  if (gate_->health().refusal == WriteRefusal::disk_failed) return false;
  const std::vector<rocksdb::ColumnFamilyHandle*> all(handles_.begin(), handles_.end());
  rocksdb::Status status = db_->Flush(rocksdb::FlushOptions(), all);
  if (status.ok()) status = db_->SyncWAL();
  if (!status.ok())
    base::log_warning("store", "what is in the log could not be written out at the end; the next start will replay it",
                      {{"reason", status.ToString()}});
  return status.ok();
}

// If this fails, the next start takes the end for a crash, and finds everything all the same.
void Database::record_close() {
  const auto state = closed_state(directory_, durability_);
  std::string reason = state ? "" : state.error().message;
  if (state)
    if (const rocksdb::IOStatus saved = write_state(*env_->GetFileSystem(), directory_, *state); !saved.ok())
      reason = saved.ToString();
  if (!reason.empty())
    base::log_warning("store", "could not record that the store was closed", {{"reason", std::move(reason)}});
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
                                                     const rocksdb::Slice& upper, const rocksdb::Snapshot* snapshot,
                                                     std::uint64_t most_skipped) const {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  options.max_skippable_internal_keys = most_skipped;
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  options.auto_prefix_mode = false;
  options.total_order_seek = true;
  return std::unique_ptr<rocksdb::Iterator>(db_->NewIterator(options, handle(family)));
}

base::Result<void> Database::write(rocksdb::WriteBatch& batch) {
  TRY_VOID(gate_->check());
  return write_into_reserve(batch);
}

base::Result<void> Database::write_into_reserve(rocksdb::WriteBatch& batch) {
  // Records that are broken into fragments have a header for each.
  constexpr std::uint64_t fragments_and_headers = 64 << 10;
  const rocksdb::IOStatus room =
      logs_->set_room_aside(batch.GetDataSize() + batch.GetDataSize() / 1024 + fragments_and_headers);
  if (!room.ok()) return base::propagate(gate_->refuse_for_now());
  const rocksdb::Status status = db_->Write(write_options_, &batch);
  if (!status.ok()) return base::propagate(gate_->fail(status, logs_->lost()));
  ++commits_;
  keys_ += static_cast<std::uint64_t>(batch.Count());
  bytes_ += batch.GetDataSize();
  return {};
}

void Database::write_out_when_idle(base::Milliseconds now) {
  constexpr base::Milliseconds long_enough = std::chrono::seconds(10);
  constexpr std::uint64_t hardly_anything = 64 << 10;
  constexpr std::uint64_t worth_a_file = 4 << 20;
  const bool was_busy = bytes_ - idle_bytes_ > hardly_anything;
  if (!was_busy && now - idle_since_ < long_enough) return;
  idle_bytes_ = bytes_;
  idle_since_ = now;
  std::uint64_t held = 0;
  if (was_busy || gate_->health().refusal != WriteRefusal::none ||
      !db_->GetAggregatedIntProperty("rocksdb.cur-size-active-mem-table", &held) || held < worth_a_file)
    return;
  const std::vector<rocksdb::ColumnFamilyHandle*> all(handles_.begin(), handles_.end());
  db_->Flush(rocksdb::FlushOptions(), all).PermitUncheckedError();
}

void Database::compact(Family family, const rocksdb::Slice& lower, const rocksdb::Slice& upper) {
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = false;
  // Without this a file may just be moved to the bottom, with all that was removed in it.
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  db_->CompactRange(options, handle(family), &lower, &upper).PermitUncheckedError();
}

}  // namespace postino::engine
