#include "json/fault.h"

#include <algorithm>

namespace postino::json {

namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_hex_digit(char letter) {
  return is_digit(letter) || (letter >= 'a' && letter <= 'f') || (letter >= 'A' && letter <= 'F');
}

// Reads as far as the text is JSON. A function is false when it has come to what must not be there.
class FaultFinder {
 public:
  explicit FaultFinder(std::string_view text) : text_(text) {}

  bool document() {
    if (!value(0)) return false;
    skip_space();
    return at_end();
  }
  std::size_t place() const { return next_; }
  bool is_too_deep() const { return too_deep_; }
  bool at_end() const { return next_ == text_.size(); }

 private:
  static constexpr int deepest = 64;

  char peek() const { return at_end() ? '\0' : text_[next_]; }
  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++next_;
    return true;
  }
  void skip_space() { next_ = std::min(text_.find_first_not_of(" \t\r\n", next_), text_.size()); }

  bool value(int depth) {
    skip_space();
    switch (peek()) {
      case '{':
        return members(depth, '}', true);
      case '[':
        return members(depth, ']', false);
      case '"':
        return string();
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  // Of an object or an array.
  bool members(int depth, char end, bool named) {
    if (depth == deepest) {
      too_deep_ = true;
      return false;
    }
    ++next_;
    skip_space();
    if (take(end)) return true;
    while (true) {
      skip_space();
      if (named && !name()) return false;
      if (!value(depth + 1)) return false;
      skip_space();
      if (take(end)) return true;
      if (!take(',')) return false;
    }
  }

  bool name() {
    if (!string()) return false;
    skip_space();
    return take(':');
  }

  bool string() {
    if (!take('"')) return false;
    while (!at_end()) {
      const char letter = text_[next_];
      if (static_cast<unsigned char>(letter) < ' ') return false;
      ++next_;
      if (letter == '"') return true;
      if (letter == '\\' && !escape()) return false;
    }
    return false;
  }

  bool escape() {
    constexpr std::string_view plain = "\"\\/bfnrt";
    if (at_end()) return false;
    if (plain.find(text_[next_]) != std::string_view::npos) {
      ++next_;
      return true;
    }
    if (!take('u')) return false;
    for (int i = 0; i < 4; ++i) {
      if (!is_hex_digit(peek())) return false;
      ++next_;
    }
    return true;
  }

  bool word(std::string_view wanted) {
    return std::ranges::all_of(wanted, [this](char each) { return take(each); });
  }

  bool digits() {
    if (!is_digit(peek())) return false;
    while (is_digit(peek())) ++next_;
    return true;
  }

  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (!take('e') && !take('E')) return true;
    if (!take('+')) take('-');
    return digits();
  }

  std::string_view text_;
  std::size_t next_ = 0;
  bool too_deep_ = false;
};

// Bytes that do not continue a character of UTF-8.
std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

}  // namespace

std::string Fault::place() const { return "in line " + std::to_string(line) + ", column " + std::to_string(column); }

std::optional<Fault> find_fault(std::string_view text) {
  FaultFinder finder(text);
  if (finder.document() || finder.is_too_deep()) return std::nullopt;
  const std::string_view before = text.substr(0, finder.place());
  const std::size_t line_end = before.rfind('\n');
  Fault fault;
  fault.line = 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
  fault.column = 1 + count_characters(before.substr(line_end == before.npos ? 0 : line_end + 1));
  fault.at_end = finder.at_end();
  return fault;
}

}  // namespace postino::json
