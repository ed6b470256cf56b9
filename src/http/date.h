// Time as HTTP writes it, for example "Sun, 06 Nov 1994 08:49:37 GMT".
#pragma once

#include <ctime>
#include <string>
#include <string_view>

namespace postino::http {

std::string format_date(std::time_t time);

// The date of this second. Used by one thread.
class DateOfNow {
 public:
  std::string_view text();

 private:
  std::time_t second_ = -1;
  std::string text_;
};

}  // namespace postino::http
