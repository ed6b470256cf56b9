// The shapes of bodies and answers, as JSON Schema, for the OpenAPI document.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace postino::api {

struct Schema {
  std::string_view name;
  std::string text;  // JSON
};

const std::vector<Schema>& all_schemas();

std::vector<Schema> message_schemas();  // those of messages among them

}  // namespace postino::api
