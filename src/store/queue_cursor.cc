#include "store/queue_cursor.h"

#include <algorithm>

namespace postino::store {

void QueueCursor::found(base::TimePoint start, base::TimePoint seen, Steady::time_point began,
                        Steady::time_point ended) {
  const bool swept = start == base::TimePoint();
  if (swept) next_sweep_ = ended + std::max<Steady::duration>(shortest_pause, (ended - began) * pause_per_time_spent);
  from_ = std::max(swept ? base::TimePoint() : from_, seen - overlap);
}

}  // namespace postino::store
