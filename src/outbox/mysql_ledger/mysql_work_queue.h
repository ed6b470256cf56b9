// What waits for work: the e-mails of a state and a shard, in the order of their due times.
#pragma once

#include <atomic>
#include <mutex>

#include "outbox/mysql_ledger/mysql_ledger.h"
#include "store/queue_cursor.h"

namespace postino::outbox {

// As the schema computes it from the id. Claimers of different shards have no rows in common.
inline constexpr int mysql_shards = 4;
std::string all_shards();  // "0, 1, 2, 3"

// A queue as this process reads it.
struct MysqlLedger::WorkQueue {
  WorkQueue(State of, int number) : state(of), shard(number) {}

  // Where a read begins now, and what it found: see store::QueueCursor.
  base::TimePoint start(store::QueueCursor::Steady::time_point now) {
    const std::lock_guard lock(mutex);
    return cursor.start(now);
  }
  void found(base::TimePoint start, base::TimePoint seen, store::QueueCursor::Steady::time_point began) {
    const std::lock_guard lock(mutex);
    cursor.found(start, seen, began, store::QueueCursor::Steady::now());
  }

  const State state;
  const int shard;
  std::atomic<bool> more = false;  // the last one who took from it did not get to its end
  std::mutex mutex;
  store::QueueCursor cursor;
  std::mutex turn;     // of a claimer who does not want all
  QueueReader reader;  // what such claimers have passed over; its user has the turn
};

}  // namespace postino::outbox
