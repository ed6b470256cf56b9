#include "engine/storage/write_gate.h"

#include <rocksdb/convenience.h>

#include <algorithm>
#include <condition_variable>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/this_thread.h"
#include "engine/storage/database.h"

namespace postino::engine {

namespace {

constexpr auto look_interval = std::chrono::milliseconds(100);
// RocksDB writes out what is in memory before it goes on. A caller does not wait longer for that, nor does the end of
// the process.
constexpr std::chrono::milliseconds resume_patience{1'000};
constexpr std::chrono::milliseconds end_patience{10'000};
constexpr std::uint64_t resume_margin = 8;  // writes are taken again when an eighth more is free than must be

std::string megabytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MB"; }

}  // namespace

// RocksDB's own attempts to go on are turned off: it would make them while the disk is still full, and can end the
// process when it finds that a failed log is all it has.
class WriteGate::Listener final : public rocksdb::EventListener {
 public:
  Listener(std::shared_ptr<std::atomic<bool>> full, std::shared_ptr<std::atomic<bool>> failed)
      : full_(std::move(full)), failed_(std::move(failed)) {}

  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* error) override {
    (error->IsNoSpace() ? *full_ : *failed_) = true;
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status, bool* auto_recovery) override {
    *auto_recovery = false;
  }

 private:
  const std::shared_ptr<std::atomic<bool>> full_;
  const std::shared_ptr<std::atomic<bool>> failed_;
};

// RocksDB goes on after a full disk, in a thread of its own: it waits for its own background work then, and was seen
// not to come back. The thread outlives the gate, if it must.
class WriteGate::Resumption {
 public:
  // nullptr when there is no thread for it now.
  static std::shared_ptr<Resumption> begin(rocksdb::DB& db) {
    auto resumption = std::make_shared<Resumption>();
    try {
      std::thread([resumption, &db] {
        base::name_thread("store-resume");
        resumption->finish(db.Resume());
      }).detach();
    } catch (const std::system_error&) {
      return nullptr;
    }
    return resumption;
  }

  // What came of it; nullopt when it has not come back in that time.
  std::optional<rocksdb::Status> wait_for(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    finished_.wait_for(lock, patience, [&] { return outcome_.has_value(); });
    return outcome_;
  }
  // True the first time.
  bool is_to_be_told() { return !std::exchange(is_told_, true); }

 private:
  void finish(rocksdb::Status outcome) {
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
    finished_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable finished_;
  std::optional<rocksdb::Status> outcome_;
  bool is_told_ = false;  // for one thread
};

// The largest step of compaction that must succeed: the files of level 0 into all of the level below, 4 memtables into
// 256 MB. Larger ones between lower levels can wait.
WriteGate::WriteGate(std::filesystem::path path, const Options& options)
    : path_(std::move(path)),
      min_free_bytes_(options.min_free_bytes),
      largest_compaction_bytes_(4 * options.memtable_bytes + (256 << 20)) {}

std::shared_ptr<rocksdb::EventListener> WriteGate::listener() {
  return std::make_shared<Listener>(background_full_, background_failed_);
}

void WriteGate::watch(rocksdb::DB& db) {
  const std::lock_guard lock(look_mutex_);
  db_ = &db;
  look();
}

bool WriteGate::end() {
  const std::lock_guard lock(look_mutex_);
  rocksdb::DB* const db = std::exchange(db_, nullptr);
  if (resumption_ == nullptr || resumption_->wait_for(resume_patience)) return true;
  rocksdb::CancelAllBackgroundWork(db, false);  // it waits for nothing more, then
  return resumption_->wait_for(end_patience).has_value();
}

base::Result<void> WriteGate::check() {
  if (const std::unique_lock lock(look_mutex_, std::try_to_lock); lock) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= next_look_ && db_ != nullptr) {
      next_look_ = now + look_interval;
      look();
    }
  }
  if (health().refusal == WriteRefusal::none) return {};
  return base::propagate(error());
}

// What is in memory must fit into new tables, and these with the old ones into larger ones before the old ones can go.
std::uint64_t WriteGate::needed() const {
  std::uint64_t memory = 0;
  std::uint64_t tables = 0;
  db_->GetAggregatedIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &memory);
  db_->GetAggregatedIntProperty(rocksdb::DB::Properties::kLiveSstFilesSize, &tables);
  return std::max(min_free_bytes_, memory + std::min(memory + tables, largest_compaction_bytes_));
}

void WriteGate::look() {
  const WriteRefusal before = health().refusal;
  if (before == WriteRefusal::disk_failed) return;
  if (resumption_ != nullptr) return wait_for_resumption(std::chrono::milliseconds(0));
  if (*background_failed_) return refuse(WriteRefusal::disk_failed, "the store's disk failed in the background");
  std::uint64_t free = 0;
  const rocksdb::IOStatus status =
      db_->GetEnv()->GetFileSystem()->GetFreeSpace(path_.string(), rocksdb::IOOptions(), &free, nullptr);
  if (!status.ok()) return;  // some file systems cannot say; then the disk is met when it is full
  const std::uint64_t reserve = needed();
  {
    const std::lock_guard lock(health_mutex_);
    health_.free_bytes = free;
    health_.reserve_bytes = reserve;
  }
  const bool has_margin = free >= reserve + reserve / resume_margin;
  if (free < reserve)
    refuse(WriteRefusal::disk_full, "the disk of the data directory has less than " + megabytes(reserve) + " left");
  else if (*background_full_)
    refuse(WriteRefusal::disk_full, "the disk of the data directory was full");
  if (!has_margin || (before == WriteRefusal::none && !*background_full_)) return;
  if (*background_full_)
    resume();
  else
    accept();
}

// RocksDB writes out what is in memory and goes on. It can do so because its log is whole; see fail().
void WriteGate::resume() {
  *background_full_ = false;
  resumption_ = Resumption::begin(*db_);
  if (resumption_ == nullptr)
    *background_full_ = true;
  else
    wait_for_resumption(resume_patience);
}

void WriteGate::wait_for_resumption(std::chrono::milliseconds patience) {
  const std::optional<rocksdb::Status> status = resumption_->wait_for(patience);
  if (!status) {
    if (!resumption_->is_to_be_told()) return;
    refuse(WriteRefusal::disk_full, "the disk of the data directory was full, and the store has not gone on yet");
    base::log_warning("store",
                      "there is room on the disk again, but the store does not go on yet: it writes out what "
                      "is in memory; if it stays so, restart the server");
    return;
  }
  resumption_.reset();
  if (status->ok()) return accept();
  if (status->IsNoSpace())
    *background_full_ = true;
  else
    refuse(WriteRefusal::disk_failed, "the store's disk failed: " + status->ToString());
}

base::Error WriteGate::fail(const rocksdb::Status& status, bool lost) {
  if (status.IsNoSpace() && !lost) {
    *background_full_ = true;
    return refuse_for_now();
  }
  base::Error failed = error_from(status);
  refuse(WriteRefusal::disk_failed, failed.message);
  return failed;
}

base::Error WriteGate::refuse_for_now() {
  refuse(WriteRefusal::disk_full, "the disk of the data directory is full");
  return error();
}

void WriteGate::refuse(WriteRefusal refusal, std::string reason) {
  const std::lock_guard lock(health_mutex_);
  if (health_.refusal > refusal) return;
  if (health_.refusal < refusal)
    base::log_error("store", "writes are refused, reads go on",
                    {{"reason", reason},
                     {"until", refusal == WriteRefusal::disk_full ? "there is room" : "the store is opened again"},
                     {"free", megabytes(health_.free_bytes)},
                     {"reserve", megabytes(health_.reserve_bytes)}});
  health_.refusal = refusal;
  health_.reason = std::move(reason);
}

void WriteGate::accept() {
  const std::lock_guard lock(health_mutex_);
  base::log_info("store", "writes are taken again", {{"free", megabytes(health_.free_bytes)}});
  health_.refusal = WriteRefusal::none;
  health_.reason.clear();
}

base::Error WriteGate::error() const {
  const WriteHealth now = health();
  if (now.refusal != WriteRefusal::disk_failed)
    return {base::ErrorCode::exhausted, now.reason + ": writes are refused until there is more"};
  return {base::ErrorCode::exhausted,
          "the store's disk failed before: writes are refused until the store is opened again"};
}

WriteHealth WriteGate::health() const {
  const std::lock_guard lock(health_mutex_);
  return health_;
}

}  // namespace postino::engine
