// The directory that holds a store: made when missing, marked with the version of its format, and locked while the
// store is open.
#pragma once

#include <filesystem>
#include <utility>

#include "base/descriptor.h"
#include "base/result.h"

namespace postino::engine {

inline constexpr int data_format_version = 1;

// Fails unless the directory is one of ours, of this or an older format version. Changes nothing. invalid when it is
// what an interrupted repair has left of a damaged store, or what an interrupted restore has made.
base::Result<void> find_data_directory(const std::filesystem::path& directory);

// Is a store in it, although its marker is missing or damaged? For one who looks after a damaged store.
bool holds_a_store(const std::filesystem::path& directory);

// Marks the directory with the version of the format, whatever is in it.
base::Result<void> mark_data_directory(const std::filesystem::path& directory);

// Makes sure the directory exists and is ours to use: empty, or marked by this or an older format version. Marks it.
base::Result<void> prepare_data_directory(const std::filesystem::path& directory);

// Held while a store is open: no other store, in this process or another, gets the directory meanwhile.
class DataDirectoryLock {
 public:
  // Fails with ErrorCode::conflict when the directory is taken.
  static base::Result<DataDirectoryLock> take(const std::filesystem::path& directory);
  DataDirectoryLock() = default;  // of nothing

 private:
  explicit DataDirectoryLock(base::Descriptor directory) : directory_(std::move(directory)) {}

  base::Descriptor directory_;  // the kernel ends the lock when it is closed
};

// Where in it RocksDB keeps its files.
inline std::filesystem::path store_directory(const std::filesystem::path& directory) { return directory / "store"; }

// Where in it a repair makes a new store. As long as it is there, a repair was interrupted.
inline std::filesystem::path repair_directory(const std::filesystem::path& directory) {
  return directory / "repairing";
}

// Where in it a restore writes its files. As long as it is there, a restore was interrupted, and nothing in the
// directory is a store.
inline std::filesystem::path restore_directory(const std::filesystem::path& directory) {
  return directory / "restoring";
}

// In a directory that a repair began to keep a damaged store in, until it is finished: the path of the data directory.
inline constexpr const char* unfinished_name = "UNFINISHED";

// Fails when a repair was interrupted. For one who has the lock: no repair runs then.
base::Result<void> refuse_interrupted_repair(const std::filesystem::path& directory);

// Takes from everybody but the owner what they may do with the directory and the files in it; older versions let others
// read. Warns when this user may not change that.
void make_private(const std::filesystem::path& directory);

// Makes that place. RocksDB would make it too, but not sync the directory above: a power loss could take all of it.
base::Result<void> prepare_store_directory(const std::filesystem::path& directory);

}  // namespace postino::engine
