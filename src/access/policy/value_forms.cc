#include "access/policy/value_forms.h"

#include <charconv>
#include <string>

#include "base/timestamp.h"

namespace postino::access {

namespace {

constexpr std::size_t date_length = 10;                 // 2026-11-15
constexpr std::size_t minutes_length = 16;              // 2026-11-15T09:30
constexpr std::int64_t most_seconds = 253'402'300'799;  // the end of the year 9999

}  // namespace

std::optional<base::TimePoint> parse_moment(std::string_view text) {
  if (!text.empty() && text.size() <= 12 && text.find_first_not_of("0123456789") == std::string_view::npos) {
    std::int64_t seconds = 0;
    std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (seconds > most_seconds) return std::nullopt;
    return base::TimePoint(std::chrono::seconds(seconds));
  }
  std::string whole(text);
  if (whole.size() == date_length) whole += "T00:00:00Z";
  const bool ends_with_minutes =
      whole.size() > minutes_length &&
      (whole[minutes_length] == 'Z' || whole[minutes_length] == '+' || whole[minutes_length] == '-');
  if (ends_with_minutes) whole.insert(minutes_length, ":00");
  const auto time = base::parse_timestamp(whole);
  if (!time) return std::nullopt;
  return *time;
}

}  // namespace postino::access
