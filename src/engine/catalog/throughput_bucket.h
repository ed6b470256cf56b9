// What a table or an index has left of its throughput.
#pragma once

#include <mutex>
#include <optional>

#include "base/clock.h"

namespace postino::engine {

// Units of one kind, reads or writes. Fills at the rate it is told, up to what five minutes bring: DynamoDB keeps
// unused capacity that long. It may be overdrawn, because what an operation costs is known only when it is done. Any
// thread.
class ThroughputBucket {
 public:
  // Has what the second before `since` brought.
  explicit ThroughputBucket(base::TimePoint since);

  // Is there anything left?
  bool admits(double rate, base::TimePoint now);
  void take(double units);

  // Before the rate changes: fills at the one that was in force until now. After a time without a limit it starts
  // again.
  void settle(std::optional<double> rate, base::TimePoint now);

 private:
  void fill(double rate, base::TimePoint now);

  std::mutex mutex_;
  double units_ = 0;
  base::TimePoint filled_;
};

// Both kinds. Like its counts, a table or an index keeps its meter when its definition changes.
struct ThroughputMeter {
  explicit ThroughputMeter(base::TimePoint since) : reads(since), writes(since) {}

  ThroughputBucket reads;
  ThroughputBucket writes;
};

}  // namespace postino::engine
