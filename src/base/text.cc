#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace postino::base {

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

bool is_line_separator(std::uint32_t code) { return code == 0x2028 || code == 0x2029; }

bool is_control_code(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || is_line_separator(code);
}

}  // namespace

bool has_control_character(std::string_view text, std::string_view allowed) {
  const bool has_lines = allowed.find('\n') != std::string_view::npos;
  while (!text.empty()) {
    const char first = text.front();
    if (is_control_character(first) && allowed.find(first) == std::string_view::npos) return true;
    const WideCharacter character = static_cast<unsigned char>(first) < 0x80 ? WideCharacter{0, 1} : decode(text);
    if (character.size > 1 && is_control_code(character.code) && !(has_lines && is_line_separator(character.code)))
      return true;
    text.remove_prefix(std::max<std::size_t>(character.size, 1));
  }
  return false;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), lower);
  return result;
}

std::string upper_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), upper);
  return result;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::ranges::equal(a, b, [](char left, char right) { return lower(left) == lower(right); });
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::size_t utf16_unit_count(std::string_view text) {
  constexpr unsigned char first_of_four = 0xF0;
  const auto beyond =
      std::ranges::count_if(text, [](char byte) { return static_cast<unsigned char>(byte) >= first_of_four; });
  return character_count(text) + static_cast<std::size_t>(beyond);
}

void append_character(std::string& out, std::uint32_t code) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  const bool is_none = code == 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF);
  if (is_none) code = 0xFFFD;
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    tail(12), tail(6), tail(0);
  }
}

std::optional<std::uint32_t> referred_character(std::string_view reference) {
  if (!reference.starts_with('#')) return std::nullopt;
  const bool is_hexadecimal = reference.size() > 1 && lower(reference[1]) == 'x';
  const std::string_view digits = reference.substr(is_hexadecimal ? 2 : 1);
  std::uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), code, is_hexadecimal ? 16 : 10);
  if (digits.empty() || end != digits.data() + digits.size()) return std::nullopt;
  return error == std::errc() ? code : 0;
}

std::string encode_percent(std::string_view text) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (plain.find(letter) != plain.npos)
      encoded += letter;
    else
      encoded.append(1, '%').append(1, digits[byte >> 4]).append(1, digits[byte & 0xF]);
  }
  return encoded;
}

std::string decode_percent(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr == text.data() + i + 3) {
      decoded.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      decoded.push_back(text[i]);
    }
  }
  return decoded;
}

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

}  // namespace postino::base
