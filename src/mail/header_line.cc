#include "mail/header_line.h"

#include <algorithm>

#include "base/text.h"
#include "mail/address.h"
#include "mail/encoding/encoded_word.h"
#include "mail/encoding/transfer_encoding.h"
#include "mail/text_rules.h"

namespace postino::mail {

namespace {

constexpr std::string_view folding_spaces = " \t";

// Cuts off and returns the spaces and the word that the text begins with.
std::pair<std::string_view, std::string_view> take_spaced_word(std::string_view& text) {
  const std::size_t word = std::min(text.find_first_not_of(folding_spaces), text.size());
  const std::size_t end = std::min(text.find_first_of(folding_spaces, word), text.size());
  const std::pair parts(text.substr(0, word), text.substr(word, end - word));
  text.remove_prefix(end);
  return parts;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') result.push_back('\\');
    result.push_back(letter);
  }
  return result + '"';
}

// RFC 2231's attribute-char.
bool is_extended_letter(char letter) {
  return is_token_letter(letter) && letter != '*' && letter != '\'' && letter != '%';
}

constexpr std::size_t longest_escaped_character = 12;

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char letter : text) {
    if (is_extended_letter(letter)) {
      encoded.push_back(letter);
    } else {
      append_escaped(encoded, '%', letter);
    }
  }
  return encoded;
}

std::string_view take_character(std::string_view& text) {
  std::size_t size = 1;
  while (size < text.size() && !base::starts_character(text[size])) ++size;
  const std::string_view character = text.substr(0, size);
  text.remove_prefix(size);
  return character;
}

}  // namespace

HeaderLine::HeaderLine(std::string& out, std::string_view name) : out_(out), line_start_(out.size()) {
  out_.append(name).push_back(':');
  value_start_ = out_.size();
}

void HeaderLine::fold() {
  out_.append("\r\n");
  line_start_ = out_.size();
}

void HeaderLine::add(std::string_view piece, std::string_view space) {
  const std::size_t length = column() + space.size() + piece.size() + 1;  // and a comma or semicolon behind it
  // A line that has the name alone is allowed, but some readers stumble over it.
  if (length > (out_.size() == value_start_ ? longest_line : preferred_line_length)) fold();
  out_.append(space).append(piece);
}

void HeaderLine::attach(std::string_view piece) { out_.append(piece); }

void HeaderLine::add_words(std::string_view text) {
  if (text.empty()) return;
  add(take_spaced_word(text).second);
  while (!text.empty()) {
    const auto [space, word] = take_spaced_word(text);
    if (word.empty()) {
      attach(space);
    } else {
      add(word, space);
    }
  }
}

void HeaderLine::add_encoded(std::string_view text) {
  const bool base64 = prefers_base64(text);
  while (!text.empty()) {
    std::string word;
    const std::size_t used = column() + 1;
    if (used < preferred_line_length) append_encoded_word(word, text, preferred_line_length - used, base64);
    if (word.empty()) {
      fold();
      append_encoded_word(word, text, longest_encoded_word, base64);
    }
    out_.append(" ").append(word);
  }
}

void HeaderLine::add_text(std::string_view text) {
  text = base::trim(text);
  if (needs_encoding(text) || longest_piece(text) > longest_line) {
    add_encoded(text);
  } else {
    add_words(text);
  }
}

void HeaderLine::add_mailbox(std::string_view name, std::string_view address) {
  if (name.empty()) return add(address);
  const bool plain = std::ranges::all_of(name, [](char letter) { return is_atom_letter(letter) || letter == ' '; }) &&
                     base::trim(name) == name;
  if (needs_encoding(name)) {
    add_encoded(name);
  } else {
    add_words(plain ? std::string(name) : quoted(name));
  }
  add(std::string("<").append(address).append(">"));
}

void HeaderLine::add_parameter(std::string_view name, std::string_view value) {
  attach(";");
  add(std::string(name).append("=").append(is_token(value) ? std::string(value) : quoted(value)));
}

void HeaderLine::add_extended_parameter(std::string_view name, std::string_view value) {
  const std::size_t room = preferred_line_length - 2;  // for the space before it and the semicolon behind
  const std::string whole = std::string(name).append("*=utf-8''").append(percent_encoded(value));
  if (whole.size() <= room) {
    attach(";");
    return add(whole);
  }
  for (int section = 0; !value.empty(); ++section) {
    std::string piece = std::string(name).append("*").append(std::to_string(section)).append("*=");
    if (section == 0) piece.append("utf-8''");
    // Characters stay in one piece: some readers decode the sections one by one.
    do {
      piece.append(percent_encoded(take_character(value)));
    } while (!value.empty() && piece.size() + longest_escaped_character <= room);
    attach(";");
    add(piece);
  }
}

void HeaderLine::add_encoded_parameter(std::string_view name, std::string_view value) {
  const bool base64 = prefers_base64(value);
  attach(";");
  std::string piece = std::string(name).append("=\"");
  while (!value.empty()) {
    append_encoded_word(piece, value, preferred_line_length - 2 - piece.size(), base64);
    if (value.empty()) piece.push_back('"');
    add(piece);
    piece.clear();
  }
}

std::size_t longest_piece(std::string_view text) {
  text = base::trim(text);
  std::size_t longest = 0;
  while (!text.empty()) {
    const auto [space, word] = take_spaced_word(text);
    longest = std::max(longest, std::max<std::size_t>(space.size(), 1) + word.size());
  }
  return longest;
}

bool needs_encoding(std::string_view text) { return !is_ascii(text) || text.find("=?") != std::string_view::npos; }

}  // namespace postino::mail
