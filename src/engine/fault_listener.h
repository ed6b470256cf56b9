// Listens to RocksDB's troubles with the disk and softens its answer to a full one.
#pragma once

#include <rocksdb/listener.h>

#include <atomic>

namespace postino::engine {

// A full disk must not keep the store from writing once it has space again. To RocksDB a log that could not be written
// is fatal, although it can go on with a new one, as it does after faults that it takes for passing ones. And where it
// does wait for space, it looks every few seconds and lets nobody else look; the next write shall find out at once.
class FaultListener final : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override;
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason reason, rocksdb::Status error, bool* auto_recovery) override;

  // Has a write to the log failed since the last call?
  bool take_log_failure() { return log_failed_.exchange(false); }

 private:
  std::atomic<bool> log_failed_ = false;
};

}  // namespace postino::engine
