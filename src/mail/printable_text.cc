#include "mail/printable_text.h"

#include <cstdint>

namespace postino::mail {

namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// A character of two bytes or more at the beginning of `text`, and the number of its bytes; 0 when it is not UTF-8.
struct WideCharacter {
  std::uint32_t code = 0;
  std::size_t size = 0;
};

WideCharacter decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {};
  std::uint32_t code = lead & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if (!continues(text[i])) return {};
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return {};
  return {code, size};
}

bool is_control_code(std::uint32_t code) {
  const bool line_separator = code == 0x2028 || code == 0x2029;
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || line_separator;
}

}  // namespace

void append_printable(std::string& out, std::string_view text, std::size_t limit) {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const WideCharacter character = first < 0x80 ? WideCharacter{first, 1} : decode(text);
    std::string_view shown = text.substr(0, character.size);
    if (character.size == 0)
      shown = "?";
    else if (is_control_code(character.code))
      shown = " ";
    if (out.size() + shown.size() > limit) return;
    out += shown;
    text.remove_prefix(character.size == 0 ? 1 : character.size);
  }
}

}  // namespace postino::mail
