// A queue of the work index as this process reads it.
#pragma once

#include <atomic>
#include <mutex>

#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_ledger.h"
#include "store/queue_cursor.h"

namespace postino::outbox {

// Its claimers in this process take turns: they would only get in each other's way.
struct StoreLedger::WorkQueue {
  WorkQueue(State of, int shard_of_it) : state(of), shard(shard_of_it), name(queue_name(of, shard_of_it)) {}

  const State state;
  const int shard;
  const std::string name;
  std::mutex turn;
  store::QueueCursor cursor;
  QueueReader reader;  // for claimers who do not want all
  // By the monotonic clock.
  base::Milliseconds next_look{0};                                    // for times that cannot be
  std::atomic<base::Milliseconds> left_until{base::Milliseconds(0)};  // others are claiming here
};

}  // namespace postino::outbox
