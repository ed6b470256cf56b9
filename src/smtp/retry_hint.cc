#include "smtp/retry_hint.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace postino::smtp {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int64_t longest_hint = 24 * 3'600;  // seconds

// A time says when to come again only after one of these: servers also name the times of their limits.
constexpr std::array<std::string_view, 6> invitations = {"again", "retry", "wait", "later", "greylist", "graylist"};

bool is_small_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_number(char c) { return c >= '0' && c <= '9'; }

// 0: it is no unit.
std::int64_t seconds_of_unit(std::string_view unit) {
  constexpr std::array<std::string_view, 5> for_seconds = {"s", "sec", "secs", "second", "seconds"};
  constexpr std::array<std::string_view, 5> for_minutes = {"m", "min", "mins", "minute", "minutes"};
  constexpr std::array<std::string_view, 5> for_hours = {"h", "hr", "hrs", "hour", "hours"};
  if (std::ranges::find(for_seconds, unit) != for_seconds.end()) return 1;
  if (std::ranges::find(for_minutes, unit) != for_minutes.end()) return 60;
  return std::ranges::find(for_hours, unit) != for_hours.end() ? 3'600 : 0;
}

// The first number with a unit in `text`, which is cut off behind it. 0 when there is none, or something else stands
// between it and the beginning and `at_once` is asked for.
std::int64_t take_time(std::string_view& text, bool at_once) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_number(text[i])) {
      if (at_once && is_small_letter(text[i]) && !text.substr(i).starts_with("and ")) return 0;
      if (at_once && is_small_letter(text[i])) i += 3;
      continue;
    }
    const bool is_inside = i > 0 && (is_small_letter(text[i - 1]) || text[i - 1] == '.' || text[i - 1] == '-');
    std::int64_t number = 0;
    for (; i < text.size() && is_number(text[i]); ++i) number = std::min(number * 10 + (text[i] - '0'), longest_hint);
    std::size_t begin = i;
    while (begin < text.size() && text[begin] == ' ') ++begin;
    std::size_t end = begin;
    while (end < text.size() && is_small_letter(text[end])) ++end;
    const std::int64_t unit = seconds_of_unit(text.substr(begin, end - begin));
    if (is_inside || unit == 0) {
      --i;
      continue;
    }
    text.remove_prefix(end);
    return std::min(number * unit, longest_hint);
  }
  return 0;
}

}  // namespace

std::optional<milliseconds> retry_hint(const Reply& reply) {
  if (reply.code / 100 != 4) return std::nullopt;
  const std::string text = base::lower_case(reply.text);
  std::size_t invitation = std::string::npos;
  for (const std::string_view word : invitations) invitation = std::min(invitation, text.find(word));
  if (invitation == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(text).substr(invitation);
  std::int64_t time = take_time(rest, false);
  if (time == 0) return std::nullopt;
  while (const std::int64_t more = take_time(rest, true)) time += more;  // "1 hour 30 minutes"
  return seconds(std::min(time, longest_hint));
}

bool is_about_domain(const Reply& reply) {
  const std::string text = base::lower_case(reply.text);
  const bool is_greylisting = text.find("greylist") != std::string::npos || text.find("graylist") != std::string::npos;
  return !is_greylisting && !reply.enhanced.starts_with("4.2.");
}

}  // namespace postino::smtp
