#include "app/console/duration_text.h"

#include <charconv>
#include <string_view>

#include "base/duration_words.h"

namespace postino::app {

base::Result<base::Milliseconds> parse_duration(const std::string& text) {
  constexpr std::int64_t longest_days = 3'660;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const base::DurationUnit& each : base::duration_units)
    if (error == std::errc() && unit == each.name && number >= 0 &&
        number <= std::chrono::days(longest_days) / each.size)
      return number * each.size;
  return base::invalid("must be a duration such as 250ms, 30s, 5m, 4h or 30d");
}

std::string show_duration(base::Milliseconds duration) {
  const base::DurationUnit& unit = base::unit_of(duration);
  return std::to_string(duration / unit.size) + std::string(unit.name);
}

}  // namespace postino::app
