// The keys of the substitution maps: their syntax, and the order in which messages list them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace postino::expr {

inline constexpr std::size_t max_placeholder_size = 255;

// `map` is the parameter that the key is from, `sign` the character that its keys start with.
base::Result<void> check_placeholder_key(std::string_view map, char sign, std::string_view key);

// DynamoDB walks over its maps in the order of Java's HashMap, and its messages show it: by bucket, where the number of
// buckets is that of a map with all these keys.
std::vector<std::string_view> in_hash_order(std::vector<std::string_view> keys);

// java.lang.String.hashCode of text given in UTF-8.
std::uint32_t java_hash(std::string_view text);

}  // namespace postino::expr
