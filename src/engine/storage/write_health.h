// Whether a store takes writes, and what it has written, for those who watch it.
#pragma once

#include <cstdint>
#include <string>

namespace postino::engine {

enum class WriteRefusal : std::uint8_t {
  none,         // writes are taken
  disk_full,    // until there is room again
  disk_failed,  // until the store is opened again
};

struct WriteHealth {
  WriteRefusal refusal = WriteRefusal::none;
  std::string reason;               // in words, when they are refused
  std::uint64_t free_bytes = 0;     // when it was looked at last
  std::uint64_t reserve_bytes = 0;  // that must stay free
};

// Since it was opened.
struct WriteCounts {
  std::uint64_t commits = 0;
  std::uint64_t keys = 0;   // put, removed, or removed as a range
  std::uint64_t bytes = 0;  // of the log, without the headers of its records
};

}  // namespace postino::engine
