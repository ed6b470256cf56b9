// Letters of ASCII and characters of UTF-8. The locale has no say in either.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace postino::base {

inline char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}
inline char upper(char letter) {
  return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

// Those of ASCII: what is below the space, and DEL.
inline bool is_control_character(char letter) { return static_cast<unsigned char>(letter) < ' ' || letter == 0x7F; }
// Has it anything that could end a line or control a terminal? These are the control characters of ASCII but for those
// in `allowed`, U+0080 to U+009F, and the line ends U+2028 and U+2029 unless '\n' is allowed. All services decide by
// this function what a text of one line, or of several, may be.
bool has_control_character(std::string_view text, std::string_view allowed = "");
// What texts of several lines may have.
inline constexpr std::string_view line_controls = "\n\r\t";
// From the space to the tilde.
inline bool is_printable_ascii(char letter) { return letter >= ' ' && letter <= '~'; }

std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);

// Are they the same but for the case of ASCII letters?
bool equal_ignoring_case(std::string_view a, std::string_view b);

// Is it the first byte of a character, and not one of those that follow?
inline bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }
std::size_t character_count(std::string_view text);
// As UTF-16 counts them: two for a character beyond U+FFFF.
std::size_t utf16_unit_count(std::string_view text);

// As UTF-8; U+FFFD in place of what is no character.
void append_character(std::string& out, std::uint32_t code);
// The character that "#65" or "#x41" is in HTML and XML, between ampersand and semicolon; 0 if there is none with that
// number. nullopt if it is no such reference.
std::optional<std::uint32_t> referred_character(std::string_view reference);

// As a part of a URL: everything but letters, digits and "-._~" is percent-encoded.
std::string encode_percent(std::string_view text);

// With what is percent-encoded decoded; a percent sign without two hexadecimal digits stays as it is.
std::string decode_percent(std::string_view text);

// Without the blanks at both ends.
inline std::string_view trim(std::string_view text, std::string_view blanks = " \t\r\n\f") {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Appends `text` as long as `out` does not exceed `limit` bytes, whole characters only. What could end a line or
// control a terminal becomes a space, what is not UTF-8 a question mark.
void append_printable(std::string& out, std::string_view text, std::size_t limit);

}  // namespace postino::base
