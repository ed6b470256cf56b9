#include "app/console/terminal_text.h"

#include <algorithm>

#include "base/text.h"

namespace postino::app {

namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Characters that turn the direction of what follows: with them a line can read as another one.
constexpr Range turning[] = {{0x202A, 0x202E}, {0x2066, 0x2069}};

// The blocks that terminals draw without a column of their own, and with two. See Unicode's EastAsianWidth.txt.
constexpr Range combining[] = {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x2060, 0x2064},  {0x20D0, 0x20FF},
                               {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}};
constexpr Range wide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},   {0xAC00, 0xD7A3},
                          {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
                          {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF},
                          {0x20000, 0x3FFFD}};

template <std::size_t count>
bool is_among(std::uint32_t code, const Range (&ranges)[count]) {
  return std::ranges::any_of(ranges, [code](const Range& range) { return code >= range.first && code <= range.last; });
}

// The first character's bytes.
std::string_view first_character(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && !base::starts_character(text[size])) ++size;
  return text.substr(0, size);
}

std::uint32_t code_point_of(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  std::uint32_t code = character.size() == 1 ? lead : lead & (0xFFU >> (character.size() + 1));
  for (const char byte : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(byte) & 0x3F);
  return code;
}

int character_columns(std::string_view character) {
  const std::uint32_t code = code_point_of(character);
  if (is_among(code, combining)) return 0;
  return is_among(code, wide) ? 2 : 1;
}

std::string spaces(int count) { return std::string(static_cast<std::size_t>(std::max(count, 0)), ' '); }

void append_line(std::string& out, std::string_view line) {
  while (true) {
    const std::size_t tab = line.find('\t');
    out += printable(line.substr(0, tab));
    if (tab == std::string_view::npos) return;
    out += '\t';
    line.remove_prefix(tab + 1);
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string decoded;
  base::append_printable(decoded, text, std::string::npos);
  std::string result;
  result.reserve(decoded.size());
  for (std::string_view rest = decoded; !rest.empty();) {
    const std::string_view character = first_character(rest);
    result += is_among(code_point_of(character), turning) ? " " : character;
    rest.remove_prefix(character.size());
  }
  return result;
}

std::string printable_lines(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    append_line(result, line);
    if (end == std::string_view::npos) break;
    result += '\n';
    text.remove_prefix(end + 1);
  }
  return result;
}

int display_width(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    columns += character_columns(character);
    text.remove_prefix(character.size());
  }
  return columns;
}

std::string shortened(std::string_view text, int columns) {
  if (display_width(text) <= columns) return std::string(text);
  std::string result;
  int left = columns - 1;  // for the ellipsis
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    left -= character_columns(character);
    if (left < 0) break;
    result += character;
    text.remove_prefix(character.size());
  }
  return columns > 0 ? result + "…" : "";
}

std::string left_aligned(std::string_view text, int columns) {
  return std::string(text) + spaces(columns - display_width(text));
}

std::string right_aligned(std::string_view text, int columns) {
  return spaces(columns - display_width(text)).append(text);
}

std::string grouped(std::int64_t number) {
  constexpr std::size_t digits_together = 3;
  std::string text = std::to_string(number);
  const std::size_t first_digit = number < 0 ? 1 : 0;
  for (std::size_t end = text.size(); end > first_digit + digits_together; end -= digits_together)
    text.insert(end - digits_together, ",");
  return text;
}

std::string counted(std::int64_t number, std::string_view thing) {
  return grouped(number).append(" ").append(thing).append(number == 1 ? "" : "s");
}

std::string first_and_others(const std::vector<std::string>& texts) {
  if (texts.size() <= 1) return texts.empty() ? "" : texts.front();
  return texts.front() + " +" + grouped(static_cast<std::int64_t>(texts.size()) - 1);
}

}  // namespace postino::app
