// When items that expire may go.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace postino::item {

// The end of something that lives as long from `begin` on. Stores remove an item when the second of its time-to-live
// attribute begins. Of a life of seconds that could be a large part, so such a life ends with a second.
inline base::TimePoint end_of_life(base::TimePoint begin, base::Milliseconds life) {
  constexpr base::Milliseconds short_life = std::chrono::minutes(1);
  const base::TimePoint end = begin + life;
  return life < short_life ? base::TimePoint(std::chrono::ceil<std::chrono::seconds>(end)) : end;
}

}  // namespace postino::item
