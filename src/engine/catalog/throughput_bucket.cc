#include "engine/catalog/throughput_bucket.h"

#include <algorithm>

namespace postino::engine {

namespace {

using Seconds = std::chrono::duration<double>;

constexpr Seconds burst = std::chrono::minutes(5);
constexpr auto first_filling = std::chrono::seconds(1);

}  // namespace

ThroughputBucket::ThroughputBucket(base::TimePoint since) : filled_(since - first_filling) {}

void ThroughputBucket::fill(double rate, base::TimePoint now) {
  if (now <= filled_) return;  // clocks are set back now and then
  units_ = std::min(units_ + rate * Seconds(now - filled_).count(), rate * burst.count());
  filled_ = now;
}

bool ThroughputBucket::admits(double rate, base::TimePoint now) {
  const std::lock_guard lock(mutex_);
  fill(rate, now);
  return units_ > 0;
}

void ThroughputBucket::take(double units) {
  const std::lock_guard lock(mutex_);
  units_ -= units;
}

void ThroughputBucket::settle(std::optional<double> rate, base::TimePoint now) {
  const std::lock_guard lock(mutex_);
  if (rate) {
    fill(*rate, now);
  } else {
    units_ = 0;
    filled_ = now - first_filling;
  }
}

}  // namespace postino::engine
