#include "messages/iso_duration.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

namespace postino::messages {

namespace {

constexpr const char* rule = "must be an ISO 8601 duration of weeks, days, hours, minutes and seconds, such as PT2.5S";
constexpr std::int64_t most_of_a_unit = 1'000'000'000;  // far beyond any limit, and no sum of them overflows

struct Unit {
  char letter;
  bool is_time;  // stands behind the T
  std::int64_t milliseconds;
};
// In the order they may be written in.
constexpr std::array<Unit, 5> units = {{{'W', false, 604'800'000},
                                        {'D', false, 86'400'000},
                                        {'H', true, 3'600'000},
                                        {'M', true, 60'000},
                                        {'S', true, 1'000}}};

// Takes digits from the front.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number > most_of_a_unit || text.front() == '-') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// Takes ".5" or ",5" from the front, as milliseconds of a second.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
  text.remove_prefix(1);
  std::int64_t milliseconds = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits)
    if (digits < 3) milliseconds = milliseconds * 10 + (text[digits] - '0');
  for (std::size_t i = digits; i < 3; ++i) milliseconds *= 10;
  if (digits == 0 || digits > 9) return std::nullopt;
  text.remove_prefix(digits);
  return milliseconds;
}

}  // namespace

base::Result<base::Milliseconds> parse_duration(std::string_view text) {
  if (!text.starts_with('P')) return base::invalid(rule);
  text.remove_prefix(1);
  bool in_time = false;
  bool any = false;
  std::int64_t sum = 0;
  auto unit = units.begin();
  while (!text.empty()) {
    if (text.front() == 'T' && !in_time) {
      text.remove_prefix(1);
      in_time = true;
      if (text.empty()) return base::invalid(rule);
      continue;
    }
    const auto number = take_number(text);
    if (!number || text.empty()) return base::invalid(rule);
    std::int64_t fraction = 0;
    const bool has_fraction = text.front() == '.' || text.front() == ',';
    if (has_fraction) {
      const auto taken = take_fraction(text);
      if (!taken || !text.starts_with('S')) return base::invalid(rule);
      fraction = *taken;
    }
    while (unit != units.end() && (unit->letter != text.front() || unit->is_time != in_time)) ++unit;
    if (unit == units.end()) return base::invalid(rule);
    sum += *number * unit->milliseconds + fraction;
    ++unit;
    any = true;
    text.remove_prefix(1);
  }
  if (!any) return base::invalid(rule);
  return base::Milliseconds(sum);
}

std::string format_duration(base::Milliseconds duration) {
  const std::int64_t count = duration.count();
  const std::int64_t hours = count / 3'600'000, minutes = count / 60'000 % 60, milliseconds = count % 60'000;
  std::string text = "PT";
  if (hours > 0) text += std::to_string(hours) + "H";
  if (minutes > 0) text += std::to_string(minutes) + "M";
  if (milliseconds == 0 && count > 0) return text;
  text += std::to_string(milliseconds / 1'000);
  if (milliseconds % 1'000 != 0) {
    std::string fraction = std::to_string(1'000 + milliseconds % 1'000).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    text += "." + fraction;
  }
  return text + "S";
}

}  // namespace postino::messages
