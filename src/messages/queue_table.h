// The table of queues: reads shelves, and moves messages between them.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "messages/queue_layout.h"
#include "store/retry.h"
#include "store/store.h"
#include "store/table_setup.h"

namespace postino::messages {

// Everything that happens to a message. Without `from` it comes in, without `to` it goes for good.
struct QueueMove {
  std::optional<StoredMessage> from;  // must be there still and, when it is held, have the same owner
  std::optional<StoredMessage> to;
};

struct MoveReport {
  std::vector<bool> done;               // of each: false when another caller had been faster, or in the trouble
  std::optional<store::Error> trouble;  // the store did not take those that are not done
};

// Safe to use from any thread.
class QueueTable {
 public:
  QueueTable(store::Store& store, base::Random& random, store::Retry retry, std::string name)
      : store_(store), random_(random), retry_(std::move(retry)), name_(std::move(name)) {}

  // Makes the table when it is not there. Cheap once that has been done.
  store::Answer<void> prepare();

  // Messages with positions from `from` on, before `until` (empty: to the end), up to `limit`; fewer when they are
  // large.
  store::Answer<std::vector<StoredMessage>> read(Shelf shelf, const std::string& queue, const std::string& from,
                                                 const std::string& until, int limit);

  // In transactions that hold as many as they can, with their order and the counts of the shelves. What is done is
  // durable.
  MoveReport move(const std::vector<QueueMove>& moves);

  // How many moves of this size one transaction takes.
  static std::size_t moves_at_once(std::size_t actions_each);

  // The table as prepare() makes it.
  static store::TableSetup setup(const std::string& name);

  // Makes the counts of all queues again from the messages: for a store that has lost some, and that no other program
  // uses. Does nothing where the table is not there.
  store::Answer<void> recount();

  using Counts = std::array<std::int64_t, shelf_count>;
  store::Answer<Counts> counts(const std::string& queue);

  struct Tally {
    Counts counts{};
    bool is_spoilt = false;  // another program has written a count that is no whole number, or too large for one
  };
  store::Answer<Tally> tally(const std::string& queue);

  // How many messages there really are, for a queue whose counts cannot be true; they are set right. Reads the whole
  // queue, which others may use meanwhile: then the counts may differ a little from what is there.
  store::Answer<Counts> recount(const std::string& queue);

  const std::string& name() const { return name_; }
  // Other processes may have its queues, too.
  bool is_shared() const { return store_.is_shared(); }

 private:
  class Transaction;

  store::Answer<std::vector<item::Item>> slices(const std::string& queue);
  store::Answer<Counts> count_messages(const std::string& queue);

  // Writes those of the moves from `first` on that fit together; returns the position after the last of them.
  std::size_t move_some(const std::vector<QueueMove>& moves, std::size_t first, MoveReport& report);

  store::Store& store_;
  base::Random& random_;
  const store::Retry retry_;
  const std::string name_;
  std::mutex preparing_;
  std::atomic<bool> prepared_ = false;
};

}  // namespace postino::messages
