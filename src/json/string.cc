#include "json/string.h"

#include <cstdint>
#include <cstring>

namespace postino::json {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

std::uint8_t octet(char c) { return static_cast<std::uint8_t>(c); }

bool is_plain(char c) { return octet(c) >= 0x20 && octet(c) < 0x80 && c != '"' && c != '\\'; }

// The high bit of each byte that is_plain refuses. A byte above such a one may be marked by mistake; the caller only
// asks whether any is.
bool all_plain(std::uint64_t word) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t highs = 0x8080808080808080;
  const auto has_zero = [](std::uint64_t bytes) { return (bytes - ones) & ~bytes & highs; };
  const std::uint64_t control = (word - ones * 0x20) & ~word & highs;
  return ((word & highs) | control | has_zero(word ^ ones * '"') | has_zero(word ^ ones * '\\')) == 0;
}

std::size_t plain_prefix(std::string_view text) {
  std::size_t length = 0;
  for (std::uint64_t word; length + sizeof word <= text.size(); length += sizeof word) {
    std::memcpy(&word, text.data() + length, sizeof word);
    if (!all_plain(word)) break;
  }
  while (length < text.size() && is_plain(text[length])) ++length;
  return length;
}

// The length of the character that text begins with, or 0 if its bytes are no character.
std::size_t character_length(std::string_view text) {
  const std::uint8_t lead = octet(text[0]);
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  // The second byte's range keeps out surrogates, characters beyond U+10FFFF and encodings longer than needed.
  const std::uint8_t lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (octet(text[1]) < lowest || octet(text[1]) > highest) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if ((octet(text[i]) & 0xC0) != 0x80) return 0;
  return length;
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view hexadecimal = "0123456789abcdef";
  switch (c) {
    case '"':
      out.append("\\\"");
      return;
    case '\\':
      out.append("\\\\");
      return;
    case '\b':
      out.append("\\b");
      return;
    case '\f':
      out.append("\\f");
      return;
    case '\n':
      out.append("\\n");
      return;
    case '\r':
      out.append("\\r");
      return;
    case '\t':
      out.append("\\t");
      return;
    default:
      out.append("\\u00").push_back(hexadecimal[octet(c) >> 4]);
      out.push_back(hexadecimal[octet(c) & 0xF]);
  }
}

}  // namespace

void append_string(std::string& out, std::string_view text) {
  out.push_back('"');
  while (true) {
    const std::size_t plain = plain_prefix(text);
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    std::size_t length = 1;
    if (octet(text[0]) < 0x80) {
      append_escaped(out, text[0]);
    } else if (const std::size_t character = character_length(text)) {
      out.append(text.substr(0, character));
      length = character;
    } else {
      out.append(replacement);
    }
    text.remove_prefix(length);
  }
  out.push_back('"');
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t plain = plain_prefix(text);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t length = octet(text[0]) < 0x80 ? 1 : character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace postino::json
