#include "signature/signature_time.h"

#include <algorithm>
#include <charconv>

namespace postino::signature {

namespace {

using std::chrono::day;
using std::chrono::month;
using std::chrono::year;

// All of the text, which has digits only.
std::optional<int> parse_digits(std::string_view text) {
  int value = 0;
  const bool digits = !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

struct Parts {
  std::optional<int> year, month, day, hour, minute, second;
};

std::optional<Second> assemble(const Parts& parts) {
  if (!parts.year || !parts.month || !parts.day || !parts.hour || !parts.minute || !parts.second) return std::nullopt;
  const std::chrono::year_month_day date(year(*parts.year), month(static_cast<unsigned>(*parts.month)),
                                         day(static_cast<unsigned>(*parts.day)));
  if (!date.ok() || *parts.hour > 23 || *parts.minute > 59 || *parts.second > 60) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(*parts.hour) + std::chrono::minutes(*parts.minute) +
         std::chrono::seconds(*parts.second);
}

// 20130609T100015Z
std::optional<Second> parse_basic(std::string_view text) {
  if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z') return std::nullopt;
  return assemble({parse_digits(text.substr(0, 4)), parse_digits(text.substr(4, 2)), parse_digits(text.substr(6, 2)),
                   parse_digits(text.substr(9, 2)), parse_digits(text.substr(11, 2)),
                   parse_digits(text.substr(13, 2))});
}

// Sun, 09 Jun 2013 10:00:15 GMT, or with +0000 or -0000 at the end, as mail writes it
std::optional<Second> parse_http(std::string_view text) {
  static constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (text.size() < 26 || text.substr(3, 2) != ", " || text[7] != ' ' || text[11] != ' ' || text[16] != ' ' ||
      text[19] != ':' || text[22] != ':')
    return std::nullopt;
  const std::string_view zone = text.substr(25);
  if (zone != " GMT" && zone != " +0000" && zone != " -0000") return std::nullopt;
  const std::size_t position = months.find(text.substr(8, 3));
  if (position == months.npos || position % 3 != 0) return std::nullopt;
  return assemble({parse_digits(text.substr(12, 4)), static_cast<int>(position / 3 + 1),
                   parse_digits(text.substr(5, 2)), parse_digits(text.substr(17, 2)), parse_digits(text.substr(20, 2)),
                   parse_digits(text.substr(23, 2))});
}

}  // namespace

std::optional<Second> parse_signature_time(std::string_view text) {
  const auto basic = parse_basic(text);
  return basic ? basic : parse_http(text);
}

std::string format_signature_time(Second time) {
  const auto days = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss clock(time - days);
  std::string text = "00000000T000000Z";
  const auto put = [&text](std::size_t position, std::size_t digits, unsigned value) {
    for (std::size_t i = digits; i > 0; --i, value /= 10) text[position + i - 1] = static_cast<char>('0' + value % 10);
  };
  put(0, 4, static_cast<unsigned>(static_cast<int>(date.year())));
  put(4, 2, static_cast<unsigned>(date.month()));
  put(6, 2, static_cast<unsigned>(date.day()));
  put(9, 2, static_cast<unsigned>(clock.hours().count()));
  put(11, 2, static_cast<unsigned>(clock.minutes().count()));
  put(13, 2, static_cast<unsigned>(clock.seconds().count()));
  return text;
}

}  // namespace postino::signature
