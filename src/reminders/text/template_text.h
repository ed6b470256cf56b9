// The text of a template: plain text with {{placeholders}}. Pure code.
//
// Rendering is one pass, so a value that itself has braces stays as it is, and what a customer is called can neither
// become markup nor a placeholder.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace postino::reminders {

// Values of placeholders by name.
using Variables = std::map<std::string, std::string, std::less<>>;

// How values are written.
enum class TextKind {
  line,   // a subject: line ends and other control characters become spaces
  plain,  // a plain text: control characters but line ends and tabs become spaces
  html,   // as plain, with &, <, >, " and ' as character references
};

class TemplateText {
 public:
  static constexpr std::size_t max_bytes = 256 << 10;
  static constexpr std::size_t max_placeholders = 1'000;
  static constexpr std::size_t max_name_bytes = 64;

  // invalid, with the place, for braces that are not closed, names that are none, and texts beyond the limits.
  static base::Result<TemplateText> parse(std::string text);

  const std::string& text() const { return text_; }
  // Each name once, sorted.
  std::vector<std::string> names() const;

  // invalid when a placeholder has no value, which the message names, and when the text would be longer than max_bytes.
  base::Result<std::string> render(const Variables& variables, TextKind kind) const;

 private:
  struct Part {
    bool is_name = false;
    std::string text;  // as it is, or the name of a placeholder
  };

  std::string text_;
  std::vector<Part> parts_;
};

// One value as it is written into a text of this kind.
std::string written_value(std::string_view value, TextKind kind);

}  // namespace postino::reminders
