// Whether writes are taken. A write that is refused here has not reached the log: its error is `exhausted`, and says
// that nothing was done. Not while the disk is nearly full: what RocksDB writes in the background must still fit. And
// not after the disk failed: what memory holds can no longer be trusted to reach it.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/listener.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "engine/storage/options.h"
#include "engine/storage/write_health.h"

namespace postino::engine {

// Safe to use from any thread.
class WriteGate {
 public:
  WriteGate(std::filesystem::path path, const Options& options);

  // Hears of faults in RocksDB's background work, which it then stops.
  std::shared_ptr<rocksdb::EventListener> listener();

  // Once RocksDB is open.
  void watch(rocksdb::DB& db);
  // Before RocksDB is closed. False when it must not be, because it does not come back from going on: then it is to be
  // left as it is until the process ends.
  bool end();

  // Before a write. Looks at the disk at most ten times a second, and lets RocksDB go on when there is room again. That
  // keeps the caller for a second at most.
  base::Result<void> check();

  // A write failed. Full disks pass, and nothing was written: RocksDB found no room before it came to the log. Others
  // are final, and leave open what was written; so is `lost`, when the log itself is no longer whole.
  base::Error fail(const rocksdb::Status& status, bool lost);

  // There is no room for a write, and RocksDB has not seen it.
  base::Error refuse_for_now();

  WriteHealth health() const;

 private:
  class Listener;
  class Resumption;

  void look();
  void resume();
  void wait_for_resumption(std::chrono::milliseconds patience);
  std::uint64_t needed() const;
  void refuse(WriteRefusal refusal, std::string reason);
  void accept();
  base::Error error() const;  // of a write that is refused

  const std::filesystem::path path_;
  const std::uint64_t min_free_bytes_;
  const std::uint64_t largest_compaction_bytes_;
  // Set by RocksDB's threads, which may hold its locks: nothing else is done there.
  std::shared_ptr<std::atomic<bool>> background_full_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<std::atomic<bool>> background_failed_ = std::make_shared<std::atomic<bool>>(false);

  std::mutex look_mutex_;  // held while the disk is looked at, which may take a while
  rocksdb::DB* db_ = nullptr;
  std::shared_ptr<Resumption> resumption_;  // that is under way
  std::chrono::steady_clock::time_point next_look_;

  mutable std::mutex health_mutex_;
  WriteHealth health_;
};

}  // namespace postino::engine
