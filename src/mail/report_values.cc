#include "mail/report_values.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "mail/text_rules.h"

namespace postino::mail {

namespace {

// Only these have to be written as +XX; see RFC 3461 section 4.
bool needs_xtext(unsigned char byte) { return byte == '+' || byte == '=' || byte <= ' ' || byte >= 0x7F; }

}  // namespace

std::string_view without_type(std::string_view value) {
  const std::size_t semicolon = value.find(';');
  if (semicolon == std::string_view::npos) return value;
  // A type is one word: a semicolon further on is one of the text.
  const std::string_view type = base::trim(value.substr(0, semicolon));
  return std::ranges::all_of(type, is_token_letter) ? base::trim(value.substr(semicolon + 1)) : value;
}

std::string decode_xtext(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '+') {
      decoded.push_back(text[i]);
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    unsigned char byte = 0;
    if (digits.size() < 2 || digits.find_first_not_of("0123456789ABCDEF") != std::string_view::npos)
      return std::string(text);
    std::from_chars(digits.data(), digits.data() + 2, byte, 16);
    if (!needs_xtext(byte)) return std::string(text);
    decoded.push_back(static_cast<char>(byte));
    i += 2;
  }
  return decoded;
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string result;
  base::append_printable(result, base::trim(text), limit);
  return result;
}

}  // namespace postino::mail
