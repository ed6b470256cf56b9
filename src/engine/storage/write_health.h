// Whether a store takes writes, for those who watch it.
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

}  // namespace postino::engine
