#include "app/client/operation_call.h"

#include <algorithm>

#include "api/route_list.h"
#include "base/check.h"
#include "base/text.h"

namespace postino::app {

namespace {

const api::Schema& body_schema_of(const api::Operation& operation) {
  static const api::Schema nothing;
  const api::Schema* const schema = api::body_schema(operation);
  return schema == nullptr ? nothing : *schema;
}

}  // namespace

const api::Operation& operation_named(std::string_view id) {
  const api::Operation* const operation = api::find_operation(id);
  CHECK(operation != nullptr);
  return *operation;
}

OperationCall::OperationCall(std::string_view operation_id)
    : operation_(operation_named(operation_id)), body_(body_schema_of(operation_)) {}

OperationCall& OperationCall::set(std::string_view parameter, std::string value) {
  const api::Parameter* const known = api::find_parameter(operation_, parameter);
  CHECK(known != nullptr);
  if (!value.empty() || known->place == api::ParameterPlace::path) values_.emplace_back(known, std::move(value));
  return *this;
}

const std::string* OperationCall::value_of(std::string_view parameter) const {
  const auto found = std::ranges::find_if(values_, [&](const auto& value) { return value.first->name == parameter; });
  return found == values_.end() ? nullptr : &found->second;
}

std::string OperationCall::target() const {
  std::string target;
  std::string_view rest = operation_.path;
  for (std::size_t open = 0; (open = rest.find('{')) != std::string_view::npos;) {
    const std::size_t close = rest.find('}');
    const std::string* const value = value_of(rest.substr(open + 1, close - open - 1));
    CHECK(value != nullptr);
    target.append(rest.substr(0, open)).append(base::encode_percent(*value));
    rest.remove_prefix(close + 1);
  }
  target.append(rest);
  char separator = '?';
  for (const auto& [parameter, value] : values_) {
    if (parameter->place != api::ParameterPlace::query) continue;
    target.append(1, separator).append(parameter->name).append("=").append(base::encode_percent(value));
    separator = '&';
  }
  return target;
}

OperationCall& OperationCall::set_content(std::string_view type, std::string content) {
  const auto found = std::ranges::find(operation_.body.contents, type, &api::Content::type);
  CHECK(found != operation_.body.contents.end());
  content_type_ = found->type;
  content_ = std::move(content);
  return *this;
}

std::string OperationCall::body_text() const {
  if (content_) return *content_;
  return body_.empty() && !operation_.body.required ? "" : body_.json();
}

std::vector<std::pair<std::string, std::string>> OperationCall::headers() const {
  std::vector<std::pair<std::string, std::string>> headers;
  for (const auto& [parameter, value] : values_)
    if (parameter->place == api::ParameterPlace::header) headers.emplace_back(parameter->name, value);
  return headers;
}

}  // namespace postino::app
