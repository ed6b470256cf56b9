// White space around a text.
#pragma once

#include <string_view>

namespace postino::mail {

inline std::string_view trim(std::string_view text, std::string_view blanks = " \t\r\n\f") {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace postino::mail
