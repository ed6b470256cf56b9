// Durations in words, as messages have them.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace postino::base {

struct DurationUnit {
  std::string_view name;  // "d"
  Milliseconds size;
  std::string_view word;
};
// The largest first: a duration is shown in the largest unit it is a multiple of.
inline constexpr std::array<DurationUnit, 5> duration_units = {{{"d", std::chrono::days(1), "day"},
                                                                {"h", std::chrono::hours(1), "hour"},
                                                                {"m", std::chrono::minutes(1), "minute"},
                                                                {"s", std::chrono::seconds(1), "second"},
                                                                {"ms", Milliseconds(1), "millisecond"}}};

// Of none at all: seconds.
constexpr const DurationUnit& unit_of(Milliseconds duration) {
  for (const DurationUnit& unit : duration_units)
    if (duration >= unit.size && duration % unit.size == Milliseconds(0)) return unit;
  return duration_units[3];
}

// "7 days", "36 hours", "1 minute".
inline std::string duration_in_words(Milliseconds duration) {
  const DurationUnit& unit = unit_of(duration);
  const auto count = duration / unit.size;
  return std::to_string(count) + " " + std::string(unit.word) + (count == 1 ? "" : "s");
}

}  // namespace postino::base
