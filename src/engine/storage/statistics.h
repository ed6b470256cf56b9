// The counts of a table or an index, and their stored form.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/storage/keys.h"

namespace postino::engine {

// Live counts. Only the thread that commits changes them, so they always match what is on disk.
struct Statistics {
  std::atomic<std::int64_t> count = 0;
  std::atomic<std::int64_t> bytes = 0;
};

std::string statistics_key(ObjectId id);
std::string encode_statistics(std::int64_t count, std::int64_t bytes);
// Damaged records count as zero: they are informative only.
void load_statistics(Statistics& statistics, std::string_view bytes);

}  // namespace postino::engine
