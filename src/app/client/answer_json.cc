#include "app/client/answer_json.h"

#include "app/console/terminal_text.h"

namespace postino::app {

namespace {

// Of a member, read by `read`; the value of its type that means nothing when there is none.
template <auto read>
auto value_of(json::Element object, std::string_view name) {
  using Value = typename decltype((object.*read)())::value_type;
  const auto member = object.member(name);
  return (member ? ((*member).*read)() : std::nullopt).value_or(Value());
}

}  // namespace

base::Result<void> parse_answer(json::Document& document, std::string_view body) {
  json::FieldErrors errors;
  if (document.parse(body, errors) && document.root().is_object()) return {};
  return base::fail(base::ErrorCode::malformed, "the answer is not one of Postino. Is --url right?");
}

std::string text_of(json::Element object, std::string_view name) {
  return printable(value_of<&json::Element::text>(object, name));
}

std::string raw_text_of(json::Element object, std::string_view name) {
  return std::string(value_of<&json::Element::text>(object, name));
}

std::int64_t number_of(json::Element object, std::string_view name) {
  return value_of<&json::Element::integer>(object, name);
}

bool flag_of(json::Element object, std::string_view name) { return value_of<&json::Element::boolean>(object, name); }

std::vector<json::Element> list_of(json::Element object, std::string_view name) {
  const auto member = object.member(name);
  if (!member) return {};
  const json::Elements elements = member->elements();
  return {elements.begin(), elements.end()};
}

std::string text_of(json::Element element) { return printable(element.text().value_or("")); }

}  // namespace postino::app
