// Reads RocksDB's log files, that is write-ahead logs and manifests, without RocksDB: to tell a write that a crash left
// unfinished from damage, which RocksDB does not. Nothing is changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::engine {

enum class LogKind {
  writes,    // a write-ahead log: each record is a batch of writes, and begins with its sequence number
  manifest,  // each record is a change of the list of files
};

// Bytes that are no whole record.
struct LogFault {
  std::uint64_t offset = 0;
  std::string what;
  bool followed = false;  // by a later record: so they were written whole, and are damaged now
};

struct LogScan {
  std::uint64_t size = 0;         // of the file
  std::uint64_t whole = 0;        // the bytes before the fault: this many hold whole records
  std::uint64_t records = 0;      // in them
  std::optional<LogFault> fault;  // the first one
};

using EachRecord = std::function<void(std::string_view record)>;

// `each` is called with every record before the first fault; may be empty.
base::Result<LogScan> scan_log(const std::filesystem::path& file, LogKind kind, const EachRecord& each = {});

// For repair: `each` is called with the records after faults as well. `records` counts all of them.
base::Result<LogScan> salvage_log(const std::filesystem::path& file, LogKind kind, const EachRecord& each);

}  // namespace postino::engine
