#include "mail/encoding/encoded_word.h"

#include <algorithm>

#include "base/base64.h"
#include "base/text.h"
#include "mail/encoding/transfer_encoding.h"

namespace postino::mail {

namespace {

constexpr std::string_view base64_start = "=?utf-8?b?";
constexpr std::string_view quoted_start = "=?utf-8?q?";
constexpr std::string_view end = "?=";
constexpr std::size_t frame = base64_start.size() + end.size();

// What RFC 2047 section 5 (3) allows within a phrase is allowed everywhere.
bool is_plain_in_word(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
         std::string_view("!*+-/").find(letter) != std::string_view::npos;
}

std::size_t quoted_size(char letter) { return is_plain_in_word(letter) || letter == ' ' ? 1 : 3; }

void append_quoted(std::string& out, std::string_view text) {
  for (const char letter : text) {
    if (letter == ' ') {
      out.push_back('_');
    } else if (is_plain_in_word(letter)) {
      out.push_back(letter);
    } else {
      append_escaped(out, '=', letter);
    }
  }
}

std::size_t encoded_size(std::string_view text, bool base64) {
  if (base64) return (text.size() + 2) / 3 * 4;
  std::size_t size = 0;
  for (const char letter : text) size += quoted_size(letter);
  return size;
}

std::size_t character_size(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && !base::starts_character(text[size])) ++size;
  return size;
}

// How many bytes from the front, in whole characters, go into that room? With base64 whole groups of three bytes where
// there are any: some readers join the words before they decode them, and stumble over padding in the middle.
std::size_t fitting(std::string_view text, std::size_t room, bool base64) {
  std::size_t count = 0;
  std::size_t quoted = 0;
  std::size_t whole_groups = 0;
  while (count < text.size()) {
    const std::size_t size = character_size(text.substr(count));
    quoted += encoded_size(text.substr(count, size), false);
    if ((base64 ? (count + size + 2) / 3 * 4 : quoted) > room) return base64 && whole_groups > 0 ? whole_groups : count;
    count += size;
    if (count % 3 == 0) whole_groups = count;
  }
  return count;
}

}  // namespace

void append_encoded_word(std::string& out, std::string_view& text, std::size_t room, bool base64) {
  room = std::min(room, longest_encoded_word);
  const std::size_t count = room <= frame ? 0 : fitting(text, room - frame, base64);
  if (count == 0) return;
  out.append(base64 ? base64_start : quoted_start);
  if (base64) {
    base::append_base64(out, text.substr(0, count));
  } else {
    append_quoted(out, text.substr(0, count));
  }
  out.append(end);
  text.remove_prefix(count);
}

bool prefers_base64(std::string_view text) { return encoded_size(text, true) < encoded_size(text, false); }

}  // namespace postino::mail
