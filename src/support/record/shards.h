// A partition that many write to at once, as several: "COUNTER#0" to "COUNTER#9".
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/hash.h"

namespace postino::support {

inline constexpr int most_shards = 64;

class Shards {
 public:
  // 1 to 64. One shard is the partition itself. `ever`: there were so many, and records are still in them.
  Shards(std::string partition, int count, int ever = 1)
      : partition_(std::move(partition)), count_(count), ever_(std::max(count, ever)) {
    CHECK(count_ >= 1 && ever_ <= most_shards);
  }

  int count() const { return count_; }
  // Where something is written: always the same for the same text.
  std::string of(std::string_view spread) const {
    return count_ == 1 ? partition_
                       : at(static_cast<int>(base::fast_hash(spread) % static_cast<std::uint64_t>(count_)));
  }
  std::string at(int shard) const { return partition_ + "#" + std::to_string(shard); }
  // All that may hold something: those of today and of before, and the partition itself, which other programs write to.
  std::vector<std::string> all() const {
    std::vector<std::string> partitions = {partition_};
    for (int shard = 0; ever_ > 1 && shard < ever_; ++shard) partitions.push_back(at(shard));
    return partitions;
  }

 private:
  const std::string partition_;
  const int count_;
  const int ever_;
};

}  // namespace postino::support
