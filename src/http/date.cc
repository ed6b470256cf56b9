#include "http/date.h"

#include <array>
#include <cstdio>

namespace postino::http {

std::string format_date(std::time_t time) {
  static constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 64> text{};
  const int size =
      std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT", days[parts.tm_wday], parts.tm_mday,
                    months[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
  return std::string(text.data(), static_cast<std::size_t>(size));
}

std::string_view DateOfNow::text() {
  const std::time_t now = std::time(nullptr);
  if (now != second_) {
    second_ = now;
    text_ = format_date(now);
  }
  return text_;
}

}  // namespace postino::http
