// How RocksDB gets to the disk: as the environment below says, but every log is entered into the data directory's STATE
// before it is used and until it is deleted, room in it is set aside before it is needed, and files are private.
#pragma once

#include <rocksdb/env.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/storage/store_state.h"

namespace postino::engine {

class LogFile;

// The logs that must be there when the store is opened next. Safe to use from any thread.
class LogRegister {
 public:
  LogRegister(std::shared_ptr<rocksdb::FileSystem> files, std::filesystem::path directory, Durability durability,
              std::vector<KnownFile> logs);

  // A log was made: it will be missed from now on. The ones before it are not written any more.
  rocksdb::IOStatus add(const std::string& name);
  // So many bytes of a log, with this checksum, are synced. Recorded after the first sync, then whenever they have
  // doubled, at least every 4 MB; of a relaxed store when the log has ended, with the checksum. A record that cannot be
  // written leaves the one before, which still holds.
  void note_synced(const std::string& name, std::uint64_t bytes, std::uint32_t checksum);
  // A log is about to be deleted: it will not be missed.
  rocksdb::IOStatus remove(const std::string& name);
  rocksdb::IOStatus save();

  // Makes sure that the newest log can take so many more bytes. RocksDB does not get over a log that ran into a full
  // disk; a write that is refused before does no harm.
  rocksdb::IOStatus set_room_aside(std::uint64_t bytes);

  // A write or a sync of a log failed: what is in it is not known any more.
  bool lost() const { return lost_; }

  bool is_relaxed() const { return state_.durability == Durability::relaxed; }

 private:
  friend class LogFile;
  rocksdb::IOStatus save_locked();

  const std::shared_ptr<rocksdb::FileSystem> files_;
  const std::filesystem::path directory_;
  std::mutex mutex_;
  StoreState state_;
  std::string written_;            // the log that is written, by name
  std::uint64_t next_record_ = 1;  // of its synced size, when it has so many bytes
  bool is_marked_ = false;         // the store says that it has a record
  std::mutex newest_mutex_;
  LogFile* newest_ = nullptr;
  std::atomic<bool> lost_ = false;
};

// `below` is not owned and must outlive what is returned.
std::unique_ptr<rocksdb::Env> make_store_env(rocksdb::Env* below, std::shared_ptr<LogRegister> logs);

}  // namespace postino::engine
