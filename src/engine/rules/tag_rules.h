// The rules for tags. Pure: requests in, refusals out.
#pragma once

#include <string>
#include <vector>

#include "store/error.h"
#include "store/table.h"

namespace postino::engine {

inline constexpr std::size_t max_tags = 50;  // of one table

// Keys, values, duplicates and number of the tags in one request.
store::Answer<void> check_tags(const std::vector<store::Tag>& tags);
store::Answer<void> check_tag_keys(const std::vector<std::string>& keys);
// The number of tags a table would have.
store::Answer<void> check_tag_count(std::size_t count);

}  // namespace postino::engine
