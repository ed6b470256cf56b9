// Texts with wildcards: * is any text, ? is any one character.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace postino::access {

class Glob {
 public:
  // Both letters are wildcards.
  static Glob parse(std::string_view text);

  void add_text(std::string_view text) {
    for (const char letter : text) symbols_ += static_cast<unsigned char>(letter);
  }
  void add_any_text() { symbols_ += any_text; }
  void add_any_character() { symbols_ += any_character; }

  // Takes at most as many steps as both have letters, multiplied.
  bool matches(std::string_view text) const;

 private:
  // Bytes stand for themselves.
  static constexpr char16_t any_text = 0x100;
  static constexpr char16_t any_character = 0x101;

  std::u16string symbols_;
};

}  // namespace postino::access
