#include "reminders/text/template_text.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace postino::reminders {

namespace {

constexpr std::string_view opening = "{{", closing = "}}";

bool is_name(std::string_view name) {
  const auto is_letter = [](char letter) { return letter >= 'a' && letter <= 'z'; };
  const auto fits = [&](char letter) { return is_letter(letter) || (letter >= '0' && letter <= '9') || letter == '_'; };
  return !name.empty() && name.size() <= TemplateText::max_name_bytes && is_letter(name.front()) &&
         std::ranges::all_of(name, fits);
}

// "line 3, column 14", both counted from 1.
std::string place(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t line_begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const std::size_t column = base::character_count(before.substr(line_begin)) + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

}  // namespace

base::Result<TemplateText> TemplateText::parse(std::string text) {
  if (text.size() > max_bytes) return base::invalid("must not be longer than " + std::to_string(max_bytes) + " bytes");
  TemplateText made;
  std::size_t placeholders = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find(opening, at);
    const std::size_t stray = text.find(closing, at);
    if (stray < begin) return base::invalid("has }} without {{ before it, at " + place(text, stray));
    if (begin == std::string::npos) {
      made.parts_.push_back({false, text.substr(at)});
      break;
    }
    if (begin > at) made.parts_.push_back({false, text.substr(at, begin - at)});
    const std::size_t end = text.find(closing, begin);
    const std::size_t again = text.find(opening, begin + opening.size());
    if (end == std::string::npos || again < end)
      return base::invalid("has {{ that is not closed by }}, at " + place(text, begin));
    const std::string_view inside = std::string_view(text).substr(begin, end - begin).substr(opening.size());
    const std::string_view name = base::trim(inside, " ");
    if (!is_name(name))
      return base::invalid("has a placeholder at " + place(text, begin) +
                           " whose name is not 1 to 64 lower-case letters, digits and _, with a letter first");
    if (++placeholders > max_placeholders)
      return base::invalid("must not have more than " + std::to_string(max_placeholders) + " placeholders");
    made.parts_.push_back({true, std::string(name)});
    at = end + closing.size();
  }
  made.text_ = std::move(text);
  return made;
}

std::vector<std::string> TemplateText::names() const {
  std::set<std::string> names;
  for (const Part& part : parts_)
    if (part.is_name) names.insert(part.text);
  return {names.begin(), names.end()};
}

base::Result<std::string> TemplateText::render(const Variables& variables, TextKind kind) const {
  std::string out;
  for (const Part& part : parts_) {
    if (!part.is_name) {
      out += part.text;
      continue;
    }
    const auto value = variables.find(part.text);
    if (value == variables.end()) return base::invalid("needs a value for {{" + part.text + "}}");
    out += written_value(value->second, kind);
    // Many placeholders of one long value would be a huge text.
    if (out.size() > max_bytes)
      return base::invalid("would be longer than " + std::to_string(max_bytes) + " bytes with its values");
  }
  return out;
}

std::string written_value(std::string_view value, TextKind kind) {
  std::string out;
  if (kind == TextKind::line) {
    base::append_printable(out, value, out.max_size());
    return out;
  }
  for (const char letter : value) {
    if (base::is_control_character(letter) && base::line_controls.find(letter) == std::string_view::npos) {
      out += ' ';
      continue;
    }
    if (kind != TextKind::html) {
      out += letter;
      continue;
    }
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

}  // namespace postino::reminders
