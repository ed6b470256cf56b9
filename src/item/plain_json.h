// Values as people and programs of others write them: plain JSON without types. Pure code.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "item/value.h"
#include "json/document.h"

namespace postino::item {

// Numbers are exact, binary values are in base64, sets are arrays.
std::string to_plain_json(const AttributeValue& value);
std::string to_plain_json(const Map& item);

// Objects become maps, arrays lists. A number that an item cannot hold becomes a text.
AttributeValue from_plain_json(json::Element element);
// malformed when it is no JSON, or nested too deeply.
base::Result<AttributeValue> parse_plain_json(std::string_view text);

// A map, or the text of one as JSON: programs write both. Nothing when it is neither.
std::optional<Map> map_or_json(const AttributeValue& value);

}  // namespace postino::item
