// The directory that holds a store: made when missing, marked with the version of its format, and locked while the
// store is open.
#pragma once

#include <filesystem>
#include <utility>

#include "base/result.h"

namespace postino::engine {

inline constexpr int data_format_version = 1;

// Makes sure the directory exists and is ours to use: empty, or marked by this or an older format version. Marks it.
base::Result<void> prepare_data_directory(const std::filesystem::path& directory);

// Held while a store is open: no other store, in this process or another, gets the directory meanwhile.
class DataDirectoryLock {
 public:
  // Fails with ErrorCode::conflict when the directory is taken.
  static base::Result<DataDirectoryLock> take(const std::filesystem::path& directory);
  DataDirectoryLock() = default;  // of nothing
  ~DataDirectoryLock();
  DataDirectoryLock(DataDirectoryLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  DataDirectoryLock& operator=(DataDirectoryLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }

 private:
  explicit DataDirectoryLock(int file) : file_(file) {}

  int file_ = -1;
};

// Where in it RocksDB keeps its files.
inline std::filesystem::path store_directory(const std::filesystem::path& directory) { return directory / "store"; }

// Makes that place. RocksDB would make it too, but not sync the directory above: a power loss could take all of it.
base::Result<void> prepare_store_directory(const std::filesystem::path& directory);

}  // namespace postino::engine
