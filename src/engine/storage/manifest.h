// RocksDB's manifest, read without RocksDB: which table files the store consists of, and which logs it still needs.
// Opening the database would tell as well, but would change things on disk before it is known whether they are sound.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/storage/log_scan.h"

namespace postino::engine {

struct Manifest {
  std::map<std::uint64_t, std::uint64_t> tables;      // sizes of the table files by their numbers
  std::map<std::uint64_t, std::uint64_t> families;    // and the numbers of their column families
  std::uint64_t first_log = 0;                        // logs with smaller numbers are not needed any more
  std::map<std::uint64_t, std::uint64_t> first_logs;  // and those that a column family needs, by its number
  LogScan scan;
};

// Fails with ErrorCode::corrupt when a sound record cannot be understood.
base::Result<Manifest> read_manifest(const std::filesystem::path& file);

// The file that CURRENT in this directory names. Fails with ErrorCode::corrupt when CURRENT does not name one, and with
// ErrorCode::io when it cannot be read.
base::Result<std::string> current_manifest(const std::filesystem::path& store_directory);

// The number of a file such as "000012.log", when its name has this ending.
std::optional<std::uint64_t> file_number(const std::string& name, std::string_view ending);
std::string numbered_file(std::uint64_t number, std::string_view ending);

}  // namespace postino::engine
