// Attribute values as bytes on disk. The layout is pinned by golden-byte tests and described in docs/formats.md.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "item/value.h"

namespace postino::item {

void encode(std::string& out, const AttributeValue& value);
void encode(std::string& out, const Map& map);
// Of the map, only what has one of these names. They are in ascending order.
void encode(std::string& out, const Map& map, std::span<const std::string> names);

// Decode exactly what encode wrote. Damaged input of any kind gives ErrorCode::corrupt, never a crash, unbounded
// recursion or an allocation larger than the input warrants.
base::Result<AttributeValue> decode_value(std::string_view bytes);
base::Result<Map> decode_map(std::string_view bytes);

}  // namespace postino::item
