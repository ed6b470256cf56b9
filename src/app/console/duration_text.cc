#include "app/console/duration_text.h"

#include <array>
#include <charconv>
#include <string_view>

namespace postino::app {

namespace {

struct Unit {
  std::string_view name;
  std::int64_t milliseconds;
  std::string_view word;
};
// The largest first: a duration is shown in the largest unit it is a multiple of.
constexpr std::array<Unit, 5> units = {{{"d", 86'400'000, "day"},
                                        {"h", 3'600'000, "hour"},
                                        {"m", 60'000, "minute"},
                                        {"s", 1'000, "second"},
                                        {"ms", 1, "millisecond"}}};

const Unit& unit_of(base::Milliseconds duration) {
  for (const Unit& unit : units)
    if (duration.count() >= unit.milliseconds && duration.count() % unit.milliseconds == 0) return unit;
  return units[3];
}

}  // namespace

base::Result<base::Milliseconds> parse_duration(const std::string& text) {
  constexpr std::int64_t longest_days = 3'660;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Unit& each : units)
    if (error == std::errc() && unit == each.name && number >= 0 &&
        number <= longest_days * units.front().milliseconds / each.milliseconds)
      return base::Milliseconds(number * each.milliseconds);
  return base::invalid("must be a duration such as 250ms, 30s, 5m, 4h or 30d");
}

std::string show_duration(base::Milliseconds duration) {
  const Unit& unit = unit_of(duration);
  return std::to_string(duration.count() / unit.milliseconds) + std::string(unit.name);
}

std::string duration_in_words(base::Milliseconds duration) {
  const Unit& unit = unit_of(duration);
  const std::int64_t count = duration.count() / unit.milliseconds;
  return std::to_string(count) + " " + std::string(unit.word) + (count == 1 ? "" : "s");
}

}  // namespace postino::app
