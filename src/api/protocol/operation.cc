#include "api/protocol/operation.h"

#include <algorithm>

#include "api/protocol/schemas.h"

namespace postino::api {

namespace {

// Of the first content that is JSON of a known shape.
const Schema* json_schema(const std::vector<Content>& contents) {
  const auto found = std::ranges::find_if(contents, [](const Content& content) { return !content.schema.empty(); });
  return found == contents.end() ? nullptr : &schema_named(found->schema);
}

}  // namespace

const Parameter* find_parameter(const Operation& operation, std::string_view name) {
  const auto found = std::ranges::find(operation.parameters, name, &Parameter::name);
  return found == operation.parameters.end() ? nullptr : &*found;
}

const Schema* body_schema(const Operation& operation) { return json_schema(operation.body.contents); }

const Schema* answer_schema(const Operation& operation) {
  return operation.answers.empty() ? nullptr : json_schema(operation.answers.front().contents);
}

}  // namespace postino::api
