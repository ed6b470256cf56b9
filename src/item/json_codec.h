// Attribute values as DynamoDB's JSON: {"S":"text"}, {"N":"1"}, {"M":{...}} and so on.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "item/value.h"

namespace postino::item {

// Errors: ErrorCode::malformed where JSON types are wrong (DynamoDB's SerializationException), ErrorCode::invalid
// where a rule for values is broken (ValidationException); messages are DynamoDB's. The text must hold one value or one
// item and nothing else.
base::Result<AttributeValue> parse_value(std::string_view text);
base::Result<Map> parse_item(std::string_view text);

void append_json(std::string& out, const AttributeValue& value);
void append_json(std::string& out, const Map& item);
std::string to_json(const AttributeValue& value);
std::string to_json(const Map& item);

}  // namespace postino::item
