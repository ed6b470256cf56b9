#include "app/answer_json.h"

#include "app/terminal_text.h"

namespace postino::app {

namespace {

template <class T>
T value_of(json::Element object, std::string_view name) {
  T value{};
  const auto member = member_of(object, name);
  if (!member || member->get(value) != simdjson::SUCCESS) return T{};
  return value;
}

}  // namespace

base::Result<void> parse_answer(json::Document& document, std::string_view body) {
  json::FieldErrors errors;
  if (document.parse(body, errors) && document.root().is_object()) return {};
  return base::fail(base::ErrorCode::malformed, "the answer is not one of Postino. Is --url right?");
}

std::optional<json::Element> member_of(json::Element object, std::string_view name) {
  json::Element member;
  if (!object.is_object() || object.at_key(name).get(member) != simdjson::SUCCESS) return std::nullopt;
  return member;
}

std::string text_of(json::Element object, std::string_view name) {
  return printable(value_of<std::string_view>(object, name));
}

std::string raw_text_of(json::Element object, std::string_view name) {
  return std::string(value_of<std::string_view>(object, name));
}

std::int64_t number_of(json::Element object, std::string_view name) { return value_of<std::int64_t>(object, name); }

bool flag_of(json::Element object, std::string_view name) { return value_of<bool>(object, name); }

std::vector<json::Element> list_of(json::Element object, std::string_view name) {
  std::vector<json::Element> elements;
  simdjson::dom::array array;
  const auto member = member_of(object, name);
  if (!member || member->get(array) != simdjson::SUCCESS) return elements;
  for (const json::Element element : array) elements.push_back(element);
  return elements;
}

std::string text_of(json::Element element) {
  std::string_view text;
  return element.get(text) == simdjson::SUCCESS ? printable(text) : "";
}

}  // namespace postino::app
