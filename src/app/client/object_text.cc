#include "app/client/object_text.h"

#include <algorithm>

#include "app/console/terminal_text.h"

namespace postino::app {

namespace {

constexpr std::string_view indent = "  ";

std::string scalar_text(json::Element element) {
  if (const auto text = element.text()) return printable(*text);
  return element.is_null() ? "" : printable(element.compact());
}

bool is_nested(json::Element element) {
  if (element.is_object()) return true;
  if (!element.is_array()) return false;
  const json::Elements elements = element.elements();
  return std::any_of(elements.begin(), elements.end(), [](json::Element each) { return is_nested(each); });
}

bool has_lines(json::Element element) {
  const auto text = element.text();
  return text && text->find('\n') != std::string_view::npos;
}

bool is_empty(json::Element element) {
  if (element.is_object()) return element.members().empty();
  if (element.is_array()) return element.elements().empty();
  return scalar_text(element).empty();
}

std::string joined(json::Element list) {
  std::string text;
  for (const json::Element each : list.elements()) text.append(text.empty() ? "" : ", ").append(scalar_text(each));
  return text;
}

// Of lines that each begin with a sign.
bool is_diff(json::Element element) {
  if (!element.is_array()) return false;
  const json::Elements lines = element.elements();
  return std::any_of(lines.begin(), lines.end(), [](json::Element) { return true; }) &&
         std::all_of(lines.begin(), lines.end(), [](json::Element line) {
           const auto text = line.text();
           return text && !text->empty() && std::string_view(" +-").find(text->front()) != std::string_view::npos;
         });
}

void append_lines(std::string& out, std::string_view text, const std::string& margin) {
  const std::string lines = printable_lines(text);
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    const std::string_view line = std::string_view(lines).substr(begin, end - begin);
    out.append(line.empty() ? "" : margin).append(line).append("\n");
    begin = end + 1;
  }
}

void append_object(std::string& out, json::Element object, const std::string& margin);

// The first line of each object of a list has a dash.
void append_list(std::string& out, json::Element list, const std::string& margin) {
  for (const json::Element each : list.elements()) {
    std::string text;
    append_object(text, each, margin + std::string(indent));
    if (text.size() > margin.size()) text[margin.size()] = '-';
    out += text;
  }
}

void append_object(std::string& out, json::Element object, const std::string& margin) {
  int width = 0;
  for (const auto& [name, value] : object.members())
    if (!is_empty(value) && !is_nested(value)) width = std::max(width, display_width(printable(name)));
  for (const auto& [name, value] : object.members()) {
    if (is_empty(value)) continue;
    const std::string label = printable(name);
    const std::string inner = margin + std::string(indent);
    if (value.is_object() || is_nested(value) || has_lines(value) || is_diff(value)) {
      out.append(margin).append(label).append("\n");
      if (value.is_object())
        append_object(out, value, inner);
      else if (is_diff(value))
        for (const json::Element line : value.elements()) out.append(inner).append(scalar_text(line)).append("\n");
      else if (value.is_array())
        append_list(out, value, inner);
      else
        append_lines(out, *value.text(), inner);
      continue;
    }
    out.append(margin).append(left_aligned(label, width)).append(indent);
    out.append(value.is_array() ? joined(value) : scalar_text(value)).append("\n");
  }
}

}  // namespace

std::string object_text(json::Element object) {
  std::string text;
  append_object(text, object, "");
  return text;
}

}  // namespace postino::app
