#include "app/client/json_file.h"

#include "json/fault.h"
#include "json/fields.h"

namespace postino::app {

namespace {

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

std::vector<std::string> elements_of(json::Element root, std::string_view list) {
  const json::Element around = root.member(list).value_or(root);
  if (!around.is_array()) return {root.compact()};
  std::vector<std::string> elements;
  for (const json::Element element : around.elements()) elements.push_back(element.compact());
  return elements;
}

std::string fault_in_line(std::string_view line, std::size_t number, const json::FieldErrors& errors) {
  const auto fault = json::find_fault(line);
  if (!fault) return "line " + std::to_string(number) + " " + errors.list().front().rule;
  return "line " + std::to_string(number) + " must be JSON; the error is in column " + std::to_string(fault->column);
}

// An object on each line; blank lines count for nothing but the number of those that follow.
base::Result<std::vector<std::string>> read_lines(std::string_view text) {
  std::vector<std::string> elements;
  json::Document document;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (is_blank(line)) continue;
    json::FieldErrors errors;
    if (!document.parse(line, errors)) return base::invalid(fault_in_line(line, number, errors));
    elements.push_back(document.root().compact());
  }
  return elements;
}

// Does it begin with a line that is a whole object? Otherwise it is not meant to be read line by line.
bool has_lines(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (!is_blank(line)) {
      json::Document document;
      json::FieldErrors errors;
      return document.parse(line, errors) && document.root().is_object();
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

}  // namespace

base::Result<std::vector<std::string>> read_json_file(std::string_view text, const JsonFileWords& words) {
  json::Document document;
  json::FieldErrors errors;
  std::vector<std::string> elements;
  if (document.parse(text, errors)) {
    elements = elements_of(document.root(), words.list);
  } else if (has_lines(text)) {
    TRY(elements, read_lines(text));
  } else {
    return base::invalid(errors.list().front().rule + " (" + std::string(words.one) + ", an array, or one per line)");
  }
  if (elements.empty()) return base::invalid("has no " + std::string(words.many));
  return elements;
}

}  // namespace postino::app
