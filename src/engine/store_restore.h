// A store that comes from a backup takes an empty directory: as a whole, or not at all.
#pragma once

#include <filesystem>

#include "base/clock.h"
#include "base/result.h"
#include "engine/storage/data_directory.h"
#include "engine/store_check.h"

namespace postino::engine {

class StoreRestore {
 public:
  // Takes the directory, which must be missing or empty, or have what an interrupted restore has left: that is removed.
  // invalid when something else is there, conflict when a process uses it. Until it is finished no store can be opened
  // there, also after a crash.
  static base::Result<StoreRestore> begin(const std::filesystem::path& directory);

  // Where the files of the data directory are to be written. It is empty.
  std::filesystem::path place() const { return restore_directory(directory_); }

  // Checks the store in the place, files and contents, and puts it where it belongs if it is sound. Otherwise nothing
  // is changed, and the check says why.
  base::Result<StoreCheck> finish(const base::Clock& clock);

  // What was written to the place goes, and the directory is empty again: after an error that is not of finish(), or a
  // check that found the store unsound.
  void abandon() const;

 private:
  StoreRestore(std::filesystem::path directory, DataDirectoryLock lock)
      : directory_(std::move(directory)), lock_(std::move(lock)) {}

  std::filesystem::path directory_;
  DataDirectoryLock lock_;
};

}  // namespace postino::engine
