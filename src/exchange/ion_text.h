// Items in Ion text, as DynamoDB writes them: numbers are decimals, sets are lists with the annotations $dynamodb_SS,
// $dynamodb_NS and $dynamodb_BS, binaries are blobs.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "item/value.h"

namespace postino::exchange {

inline constexpr std::string_view ion_version = "$ion_1_0";

// A structure, without the version.
void append_ion(std::string& out, const item::Map& map);
void append_ion_decimal(std::string& out, std::string_view digits);

// One top-level structure, which may have the version in front, and nothing behind it: its value as a map. Annotations
// other than those of sets are passed over; clobs, timestamps and expressions are refused. malformed or invalid, with
// the rule.
base::Result<item::Map> parse_ion(std::string_view text);

}  // namespace postino::exchange
