// The stored form of a table's or an index's counts.
#pragma once

#include <string>
#include <string_view>

#include "engine/table.h"

namespace postino::engine {

std::string statistics_key(ObjectId id);
std::string encode_statistics(std::int64_t count, std::int64_t bytes);
// Damaged records count as zero: they are informative only.
void load_statistics(Statistics& statistics, std::string_view bytes);

}  // namespace postino::engine
