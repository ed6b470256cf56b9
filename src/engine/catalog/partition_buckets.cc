#include "engine/catalog/partition_buckets.h"

#include <algorithm>

namespace postino::engine {

void PartitionBuckets::fill(Bucket& bucket, base::TimePoint now) const {
  if (now <= bucket.filled) return;  // clocks are set back now and then
  const std::chrono::duration<double> passed = now - bucket.filled;
  bucket.units = std::min(bucket.units + rate_ * passed.count(), rate_);
  bucket.filled = now;
}

bool PartitionBuckets::admits(std::uint32_t partition, base::TimePoint now) {
  const std::lock_guard lock(mutex_);
  const auto found = buckets_.find(partition);
  if (found == buckets_.end()) return true;
  fill(found->second, now);
  return found->second.units > 0;
}

void PartitionBuckets::take(std::uint32_t partition, double units, base::TimePoint now) {
  const std::lock_guard lock(mutex_);
  if (buckets_.size() >= max_buckets) forget_full(now);
  if (buckets_.size() >= max_buckets && !buckets_.contains(partition)) return;
  Bucket& bucket = buckets_.try_emplace(partition, Bucket{rate_, now}).first->second;
  fill(bucket, now);
  bucket.units -= units;
}

void PartitionBuckets::forget_full(base::TimePoint now) {
  for (auto each = buckets_.begin(); each != buckets_.end();) {
    fill(each->second, now);
    each = each->second.units >= rate_ ? buckets_.erase(each) : std::next(each);
  }
}

}  // namespace postino::engine
