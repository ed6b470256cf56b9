// The JSON object in the body of a request, read field by field.
#pragma once

#include <string_view>
#include <utility>

#include "api/protocol/problem.h"
#include "json/document.h"
#include "json/fields.h"

namespace postino::api {

// Reads an object, and refuses it with everything that is wrong. No body is an empty object.
template <class Read>
auto read_object(std::string_view body, Read read)
    -> base::Result<decltype(read(std::declval<json::Fields&>())), Problem> {
  json::FieldErrors errors;
  json::Document document;
  if (!document.parse(body.empty() ? "{}" : body, errors)) return refuse_fields(problems::malformed_json, errors);
  if (!document.root().is_object()) return refuse_field("body", "must be a JSON object");
  json::Fields fields(document.root(), "", errors);
  auto value = read(fields);
  fields.refuse_others();
  if (!errors.empty()) return refuse_fields(problems::invalid_request, errors);
  return value;
}

}  // namespace postino::api
