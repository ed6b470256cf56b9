#include "app/client/answer.h"

#include "app/client/operation_call.h"
#include "app/console/terminal_text.h"
#include "base/check.h"

namespace postino::app {

namespace {

constexpr std::string_view each = "[]";

const api::Schema& property_of(const api::Schema& schema, std::string_view path) {
  const api::Schema* const property = api::find_property(schema, path);
  CHECK(property != nullptr);
  return *property;
}

}  // namespace

std::optional<json::Element> AnswerObject::member(std::string_view name) const {
  property_of(*schema_, name);
  return element_.member(name);
}

std::string AnswerObject::raw_text(std::string_view name) const {
  const auto found = member(name);
  return std::string(found ? found->text().value_or("") : "");
}

std::string AnswerObject::text(std::string_view name) const { return printable(raw_text(name)); }

std::int64_t AnswerObject::number(std::string_view name) const {
  const auto found = member(name);
  return found ? found->integer().value_or(0) : 0;
}

bool AnswerObject::flag(std::string_view name) const {
  const auto found = member(name);
  return found && found->boolean().value_or(false);
}

std::optional<AnswerObject> AnswerObject::object(std::string_view name) const {
  const auto found = member(name);
  if (!found) return std::nullopt;
  return AnswerObject(*found, property_of(*schema_, name));
}

std::vector<AnswerObject> AnswerObject::objects(std::string_view name) const {
  std::vector<AnswerObject> objects;
  const api::Schema& schema = property_of(*schema_, std::string(name).append(each));
  if (const auto found = element_.member(name))
    for (const json::Element element : found->elements()) objects.emplace_back(element, schema);
  return objects;
}

std::vector<std::string> AnswerObject::texts(std::string_view path) const {
  property_of(*schema_, path);
  const std::size_t end = path.find(each);
  CHECK(end != std::string_view::npos);
  const std::string_view inner = path.substr(end + each.size());
  std::vector<std::string> texts;
  const auto list = element_.member(path.substr(0, end));
  if (!list) return texts;
  for (const json::Element element : list->elements()) {
    const auto found = inner.empty() ? std::optional(element) : element.member(inner.substr(1));
    texts.push_back(printable(found ? found->text().value_or("") : ""));
  }
  return texts;
}

std::vector<std::pair<std::string, std::int64_t>> AnswerObject::numbers(std::string_view name) const {
  std::vector<std::pair<std::string, std::int64_t>> numbers;
  if (const auto found = member(name))
    for (const auto& [key, value] : found->members()) numbers.emplace_back(printable(key), value.integer().value_or(0));
  return numbers;
}

base::Result<Answer> Answer::parse(std::string_view operation_id, std::string_view body) {
  const api::Schema* const schema = api::answer_schema(operation_named(operation_id));
  CHECK(schema != nullptr);
  return parse(*schema, body);
}

base::Result<Answer> Answer::parse(const api::Schema& schema, std::string_view body) {
  Answer answer(schema);
  json::FieldErrors errors;
  if (!answer.document_.parse(body, errors) || !answer.document_.root().is_object())
    return base::fail(base::ErrorCode::malformed, "the response is not from a Postino server. Is --url right?");
  return answer;
}

}  // namespace postino::app
