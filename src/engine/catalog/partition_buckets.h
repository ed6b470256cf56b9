// What single partition keys have left of the throughput that one partition can give, whatever its table has.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "base/clock.h"

namespace postino::engine {

// Units of one kind, reads or writes, by the hash of the partition key. Each has what one second brings, and can be
// overdrawn. Any thread.
class PartitionBuckets {
 public:
  // What a partition of DynamoDB gives in a second.
  static constexpr double most_reads = 3'000;
  static constexpr double most_writes = 1'000;

  explicit PartitionBuckets(double rate) : rate_(rate) {}

  // Is there anything left?
  bool admits(std::uint32_t partition, base::TimePoint now);
  void take(std::uint32_t partition, double units, base::TimePoint now);

 private:
  struct Bucket {
    double units = 0;
    base::TimePoint filled;
  };

  // Keys that are not used fill up and are forgotten. With more keys in use than this, none of them can be a hot one.
  static constexpr std::size_t max_buckets = 10'000;

  void fill(Bucket& bucket, base::TimePoint now) const;
  void forget_full(base::TimePoint now);

  const double rate_;
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, Bucket> buckets_;  // of keys that have less than all
};

}  // namespace postino::engine
