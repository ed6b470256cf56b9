// Letters of ASCII and characters of UTF-8. The locale has no say in either.
#pragma once

#include <string>
#include <string_view>

namespace postino::base {

inline char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}
inline char upper(char letter) {
  return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);

// Are they the same but for the case of ASCII letters?
bool equal_ignoring_case(std::string_view a, std::string_view b);

// Is it the first byte of a character, and not one of those that follow?
inline bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }
std::size_t character_count(std::string_view text);

// As a part of a URL: everything but letters, digits and "-._~" is percent-encoded.
std::string encode_percent(std::string_view text);

// With what is percent-encoded decoded; a percent sign without two hexadecimal digits stays as it is.
std::string decode_percent(std::string_view text);

}  // namespace postino::base
