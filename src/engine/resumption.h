// Going on after the disk was full.
#pragma once

#include <rocksdb/db.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/fault_listener.h"

namespace postino::engine {

// After a failed write RocksDB refuses all others until it is told to go on. It does so once a full disk has space
// again; after other faults of the disk, and in rare cases after this one, the store has to be opened anew.
class Resumption {
 public:
  // `spare` is the family that takes a meaningless entry.
  Resumption(rocksdb::DB& db, std::vector<rocksdb::ColumnFamilyHandle*> families, rocksdb::ColumnFamilyHandle* spare,
             std::shared_ptr<FaultListener> faults);
  // Gives up what is under way. The database must be about to be closed.
  ~Resumption();

  // Succeeds when the database takes writes again. An attempt that takes longer goes on by itself, and the next call
  // asks after it. One caller at a time, who does not write meanwhile.
  base::Result<void> try_for(base::Milliseconds patience);

 private:
  rocksdb::Status resume();
  bool has_unflushed() const;
  std::uint64_t current_log() const;

  rocksdb::DB& db_;
  const std::vector<rocksdb::ColumnFamilyHandle*> families_;
  rocksdb::ColumnFamilyHandle* const spare_;
  const std::shared_ptr<FaultListener> faults_;
  std::uint64_t failed_log_ = 0;  // the number of the last log that could not be written

  std::mutex mutex_;
  std::condition_variable finished_;
  bool running_ = false;
  rocksdb::Status outcome_;
  std::thread thread_;
};

}  // namespace postino::engine
