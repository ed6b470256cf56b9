// Attribute values out of a JSON document that is being read; for everything else there is json_codec.h.
#pragma once

#include <simdjson.h>

#include "base/result.h"
#include "item/value.h"

namespace postino::item {

// Errors: ErrorCode::malformed where JSON types are wrong (DynamoDB's SerializationException), ErrorCode::invalid
// where a rule for values is broken (ValidationException); messages are DynamoDB's.
base::Result<AttributeValue> value_from_json(simdjson::ondemand::value json);
// An object of name -> typed value: an item, a key or expression attribute values.
base::Result<Map> map_from_json(simdjson::ondemand::object json);

}  // namespace postino::item
