#include "access/policy/glob.h"

#include <optional>

#include "base/text.h"

namespace postino::access {

namespace {

// The place behind the character at `place`, of one byte or several.
std::size_t behind_character(std::string_view text, std::size_t place) {
  ++place;
  while (place < text.size() && !base::starts_character(text[place])) ++place;
  return place;
}

}  // namespace

Glob Glob::parse(std::string_view text) {
  Glob glob;
  for (const char letter : text) {
    if (letter == '*')
      glob.add_any_text();
    else if (letter == '?')
      glob.add_any_character();
    else
      glob.add_text({&letter, 1});
  }
  return glob;
}

// After a mismatch, the last * takes one more byte: what stands before it need not be tried again.
bool Glob::matches(std::string_view text) const {
  std::size_t place = 0;
  std::size_t symbol = 0;
  std::optional<std::size_t> star;  // the symbol behind the last *
  std::size_t star_end = 0;         // what it takes ends here
  while (place < text.size()) {
    if (symbol < symbols_.size() && symbols_[symbol] == any_text) {
      star = ++symbol;
      star_end = place;
    } else if (symbol < symbols_.size() && symbols_[symbol] == any_character) {
      place = behind_character(text, place);
      ++symbol;
    } else if (symbol < symbols_.size() && symbols_[symbol] == static_cast<unsigned char>(text[place])) {
      ++place;
      ++symbol;
    } else if (star) {
      symbol = *star;
      place = ++star_end;
    } else {
      return false;
    }
  }
  while (symbol < symbols_.size() && symbols_[symbol] == any_text) ++symbol;
  return symbol == symbols_.size();
}

}  // namespace postino::access
