// Are the files of a store those that were written? Looks at them before RocksDB does, and changes nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/storage/store_state.h"

namespace postino::engine {

struct FileFault {
  std::string file;  // below the data directory
  std::string what;  // is wrong with it: "is missing"
};

// The end of a log that a crash left, to be cut off: a write that was never acknowledged, or, with relaxed durability,
// what the machine had not synced.
struct UnfinishedLog {
  std::string file;  // in the store's directory
  std::uint64_t whole_bytes = 0;
  std::uint64_t unfinished_bytes = 0;
  bool holds_writes = false;  // whole ones behind what is missing: they were acknowledged with relaxed durability
};

struct StoreFiles {
  bool exists = false;  // a database was made before
  std::vector<FileFault> faults;
  std::vector<UnfinishedLog> unfinished;
  std::vector<std::string> logs;  // all that are there, oldest first
  std::size_t tables = 0;         // and those that the manifest names
  std::uint64_t table_bytes = 0;
  std::uint64_t verified_bytes = 0;  // of the tables: every block was read, and has its checksum
};

// Reads the logs, the manifest, and the blocks of table files up to this many bytes, newest files first. Fails when the
// directory or a file in it may not be read.
base::Result<StoreFiles> inspect_store_files(
    const std::filesystem::path& directory, std::uint64_t most_table_bytes = std::numeric_limits<std::uint64_t>::max());

// What is wrong with a file of the store's directory that was recorded when the store was closed; empty when nothing
// is.
std::string difference_from_record(const std::filesystem::path& store, const KnownFile& file);

// Cuts off what is unfinished, syncs all logs, and says so in the log of the process.
base::Result<void> finish_logs(const std::filesystem::path& directory, const StoreFiles& files);

// The logs as they are after that: all synced. For a relaxed store with their checksums, which say so.
base::Result<std::vector<KnownFile>> synced_logs(const std::filesystem::path& directory, const StoreFiles& files,
                                                 Durability durability);

// Which files are in the store's directory, and how long they are: to see whether any of them was changed. The mark of
// the record of files does not count, nor do files that RocksDB was about to remove (*.trash).
base::Result<std::vector<KnownFile>> list_store_files(const std::filesystem::path& directory);

// What was closed: the files as they are now, with the sizes and checksums that they must have when it is opened next.
base::Result<StoreState> closed_state(const std::filesystem::path& directory, Durability durability);

// For the operator: what is wrong, and what to do. `changed` says what was changed before it was found.
base::Error damage_error(const std::filesystem::path& directory, const std::string& what, const std::string& changed);
// Before anything was changed.
base::Error damage_error(const std::filesystem::path& directory, const std::vector<FileFault>& faults);

}  // namespace postino::engine
