// What DynamoDB counts: bytes for limits and capacity, and levels of nesting.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "item/value.h"

namespace postino::item {

inline constexpr std::size_t max_item_size = 409'600;
inline constexpr std::size_t max_hash_key_size = 2'048;
inline constexpr std::size_t max_range_key_size = 1'024;
inline constexpr std::size_t max_attribute_name_size = 65'535;
inline constexpr int max_nesting = 32;  // depth of the deepest leaf; a top-level attribute has depth 1
inline constexpr std::string_view nesting_exceeded =
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit";

std::size_t size_of(const AttributeValue& value);
// Names and values of all attributes.
std::size_t size_of(const Map& item);
// The bytes a scalar counts as part of a key.
std::size_t key_size(const AttributeValue& scalar);

// Fails with DynamoDB's message for an empty name, and for one that is too long.
base::Result<void> check_attribute_name(std::string_view name);

// Fails with DynamoDB's message, and Rule::nesting, when a leaf is too deep.
base::Result<void> check_nesting(const AttributeValue& value);
base::Result<void> check_nesting(const Map& item);

}  // namespace postino::item
