// Where to begin reading a queue of work that is ordered by due time.
//
// Entries leave a queue at its old end, and a store that appends deletions has to step over them until it cleans up.
// So reading starts a little before the last entry that was found, not at the beginning. What comes in behind that
// point (a slow commit, a clock that is late) is found by reading from the beginning now and then: not too often, and
// the less often the longer it takes.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace postino::store {

class QueueCursor {
 public:
  using Steady = std::chrono::steady_clock;

  // Where to begin now; the beginning of time when a sweep is due.
  base::TimePoint start(Steady::time_point now) const { return now >= next_sweep_ ? base::TimePoint() : from_; }

  // A read from start() took from `began` to `ended` and saw everything up to `seen`.
  void found(base::TimePoint start, base::TimePoint seen, Steady::time_point began, Steady::time_point ended) {
    const bool swept = start == base::TimePoint();
    if (swept) next_sweep_ = ended + std::max<Steady::duration>(shortest_pause, (ended - began) * pause_per_time_spent);
    from_ = std::max(swept ? base::TimePoint() : from_, seen - overlap);
  }

  // Something is known to have come in behind the point: the next read begins at the beginning.
  void sweep_next() { next_sweep_ = {}; }

 private:
  static constexpr base::Milliseconds overlap{100};
  static constexpr std::chrono::milliseconds shortest_pause{1'000};
  static constexpr int pause_per_time_spent = 50;

  base::TimePoint from_;
  Steady::time_point next_sweep_;  // in the past at first
};

}  // namespace postino::store
