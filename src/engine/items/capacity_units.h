// DynamoDB's units: a write unit per started kilobyte, a read unit per started four, half of that when not consistent.
#pragma once

#include <algorithm>
#include <cstddef>

namespace postino::engine {

inline double write_units(std::size_t bytes) {
  return static_cast<double>(std::max<std::size_t>(1, (bytes + 1023) / 1024));
}

inline double read_units(std::size_t bytes, bool consistent) {
  const auto blocks = static_cast<double>(std::max<std::size_t>(1, (bytes + 4095) / 4096));
  return consistent ? blocks : blocks / 2;
}

}  // namespace postino::engine
