#include "app/console/duration_text.h"

#include <array>
#include <charconv>
#include <string_view>

namespace postino::app {

namespace {

struct Unit {
  std::string_view name;
  std::int64_t milliseconds;
};
// The largest first: a duration is shown in the largest unit it is a multiple of.
constexpr std::array<Unit, 5> units = {{{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};

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
  for (const Unit& unit : units)
    if (duration.count() >= unit.milliseconds && duration.count() % unit.milliseconds == 0)
      return std::to_string(duration.count() / unit.milliseconds) + std::string(unit.name);
  return "0s";
}

}  // namespace postino::app
