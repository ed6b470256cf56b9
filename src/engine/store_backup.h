// What a backup is made of: a store as it is at one moment, beside the one that goes on.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace postino::engine {

class Database;

// Where in the data directory such a store is while it is being backed up. What is there is left from a process that
// has ended.
inline std::filesystem::path checkpoint_directory(const std::filesystem::path& directory) {
  return directory / "backing-up";
}

// Makes a data directory with all commits of some moment since the call, and none behind it: a transaction is in it as
// a whole or not at all. Its tables are links to those of the store, so it takes hardly any room at first; what the
// store removes meanwhile stays as long as it is there. It must be on the same file system. What was there is removed
// first. For one caller at a time. Writes go on meanwhile.
base::Result<void> make_checkpoint(Database& database, const std::filesystem::path& directory);

// Away with it.
base::Result<void> remove_checkpoint(const std::filesystem::path& directory);

}  // namespace postino::engine
