// When an item may go by its time-to-live attribute.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace postino::store {

// For items that must be there until this time: stores remove them when the second of their attribute begins.
inline std::int64_t expiry_second(base::TimePoint until) {
  return std::chrono::ceil<std::chrono::seconds>(until).time_since_epoch().count();
}

}  // namespace postino::store
