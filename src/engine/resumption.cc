#include "engine/resumption.h"

#include <rocksdb/convenience.h>
#include <rocksdb/transaction_log.h>

#include <algorithm>

#include "engine/database.h"

namespace postino::engine {

Resumption::Resumption(rocksdb::DB& db, std::vector<rocksdb::ColumnFamilyHandle*> families,
                       rocksdb::ColumnFamilyHandle* spare, std::shared_ptr<FaultListener> faults)
    : db_(db), families_(std::move(families)), spare_(spare), faults_(std::move(faults)) {}

Resumption::~Resumption() {
  if (!thread_.joinable()) return;
  rocksdb::CancelAllBackgroundWork(&db_, false);
  thread_.join();
}

// On a thread of its own, because RocksDB may wait for a flush that it never begins when a compaction reports the full
// disk at the wrong moment; those who write must not wait with it.
base::Result<void> Resumption::try_for(base::Milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (!running_) {
    if (thread_.joinable()) thread_.join();
    running_ = true;
    thread_ = std::thread([this] {
      rocksdb::Status status = resume();
      const std::lock_guard guard(mutex_);
      outcome_ = std::move(status);
      running_ = false;
      finished_.notify_all();
    });
  }
  if (!finished_.wait_for(lock, patience, [&] { return !running_; }))
    return base::fail(base::ErrorCode::io, "the store's disk failed, and the store has not recovered yet");
  if (!outcome_.ok()) return base::propagate(error_from(outcome_));
  return {};
}

rocksdb::Status Resumption::resume() {
  if (faults_->take_log_failure()) failed_log_ = current_log();
  // Resuming writes out what is in memory, and with that leaves a failed log behind. With nothing in memory RocksDB
  // would go on with the failed log, and end the process.
  if (current_log() == failed_log_ && !has_unflushed())
    return rocksdb::Status::IOError("the log failed", "the store has to be opened anew");
  // Waits until all that met the full disk have reported it.
  db_.PauseBackgroundWork().PermitUncheckedError();
  db_.ContinueBackgroundWork().PermitUncheckedError();
  rocksdb::Status status = db_.Resume();
  if (!status.ok()) return status;
  // Now nothing is in memory: put something there that means nothing, in case the next write fails too.
  rocksdb::WriteOptions without_log;
  without_log.disableWAL = true;
  return db_.Delete(without_log, spare_, "resumed");
}

bool Resumption::has_unflushed() const {
  return std::ranges::any_of(families_, [&](rocksdb::ColumnFamilyHandle* family) {
    std::uint64_t entries = 0;
    std::uint64_t waiting = 0;
    db_.GetIntProperty(family, rocksdb::DB::Properties::kNumEntriesActiveMemTable, &entries);
    db_.GetIntProperty(family, rocksdb::DB::Properties::kNumImmutableMemTable, &waiting);
    return entries > 0 || waiting > 0;
  });
}

std::uint64_t Resumption::current_log() const {
  std::unique_ptr<rocksdb::LogFile> log;
  return db_.GetCurrentWalFile(&log).ok() ? log->LogNumber() : failed_log_;
}

}  // namespace postino::engine
