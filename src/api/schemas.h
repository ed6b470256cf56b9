// The shapes of bodies and answers, by their names in the OpenAPI document.
#pragma once

#include <string_view>
#include <vector>

#include "api/schema.h"

namespace postino::api {

struct NamedSchema {
  std::string_view name;
  Schema schema;
};

const std::vector<NamedSchema>& all_schemas();
std::vector<NamedSchema> message_schemas();  // those of messages among them

// There must be one of this name.
const Schema& schema_named(std::string_view name);

}  // namespace postino::api
