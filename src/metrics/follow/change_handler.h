// What is done with the changes of a table. A follower reads them; a handler counts or delivers them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "metrics/follow/checkpoint.h"
#include "metrics/follow/failure.h"
#include "store/change_feed.h"

namespace postino::metrics {

// Why a handler starts over, and where.
struct Beginning {
  std::string table;
  std::string reason;               // "nothing was counted yet"
  std::function<bool()> is_ending;  // asked now and then: the follower ends, and what takes long with it
};

// Called by the thread of its follower alone.
class ChangeHandler {
 public:
  virtual ~ChangeHandler() = default;

  // Makes ready for the changes of a stream from some record on: begins the feed, and writes its place into the
  // checkpoint. At the first start, when records are gone that were not handled, when the table has another stream, and
  // when figures are wrong. How much it has set aside: items that cannot be counted, or changes that are gone.
  virtual Outcome<std::uint64_t> begin(const Beginning& beginning, store::ChangeFeed& feed,
                                       CheckpointKeeper& keeper) = 0;

  // Handles them in their order, and moves the checkpoint behind the last. If it fails, those up to the checkpoint are
  // done. All of it is called again after a failure, or a part of it, so that a record may come twice unless its effect
  // is in the same commit as the checkpoint.
  virtual Outcome<void> handle(std::span<const store::StreamRecord> records, CheckpointKeeper& keeper) = 0;

  // Moves the checkpoint behind a record that cannot be handled, and keeps it for operators.
  virtual Outcome<void> set_aside(const store::StreamRecord& record, const std::string& reason,
                                  CheckpointKeeper& keeper) = 0;

  // Called in each round while the checkpoint is ours, before changes are read.
  virtual Outcome<void> between_batches(CheckpointKeeper& keeper) {
    (void)keeper;
    return {};
  }

  // The checkpoint is not ours any more, or its follower ends: what is not in it does not count.
  virtual void leave() {}
};

}  // namespace postino::metrics
