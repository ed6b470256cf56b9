// A queue of the table as this process knows it: where to read on, and who waits for messages.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "messages/queue_table.h"
#include "store/queue_cursor.h"

namespace postino::messages {

// Safe to use from any thread.
class LocalQueue {
 public:
  // The clock must outlive it. `lease` is the usual one of a message that is taken.
  LocalQueue(std::shared_ptr<QueueTable> table, const base::Clock& clock, std::string tag, std::string name,
             base::Milliseconds lease)
      : shared_table_(std::move(table)),
        table_(*shared_table_),
        clock_(clock),
        tag_(std::move(tag)),
        name_(std::move(name)),
        lease_(lease) {}

  const std::string& name() const { return name_; }
  QueueTable& table() { return table_; }
  const base::Clock& clock() const { return clock_; }

  // Adds messages, in their order, to be given out after the delay. They have neither shelf nor position yet.
  MoveReport add(std::vector<StoredMessage> messages, base::Milliseconds delay);

  struct Demand {
    std::size_t messages = 1;
    std::size_t bytes = 0;  // when that many are reached it is enough
    std::string owner;
    base::Milliseconds lease{0};
    std::function<bool(std::size_t bytes)> room = {};  // as in broker::ReceiveOptions
  };
  // Leases messages that are ready, in their order. Those that had been leased are told also when the store failed
  // after that. Those that cannot be read are moved to the dead queue.
  store::Answer<std::vector<StoredMessage>> take(const Demand& demand);

  // Returns what is due, and leases that have ended or that no right clock could have granted, to the shelf "ready".
  store::Answer<void> return_due();

  // How many messages there are. Counts that cannot be true, because of what another program has written, are set right
  // first, though not again and again: a queue with `most` messages or more is counted, too.
  store::Answer<QueueTable::Counts> counts(std::uint64_t most);

  // Drops messages at the front whose time is over. Takers do that by themselves; this is for queues without any.
  store::Answer<void> drop_expired();

  // Something came back to the shelf "ready", or came to it from elsewhere, through this process.
  void returned();

  // A place behind everything that was put in through it.
  std::string next_position() { return next_positions(clock_.now(), 1).front(); }

  using Deadline = std::chrono::steady_clock::time_point;
  // A number that grows whenever this process makes messages ready.
  std::uint64_t arrivals() const;
  // Until it has grown beyond `seen`, or the deadline.
  void await_arrival(std::uint64_t seen, Deadline deadline);

 private:
  store::Answer<void> look_for_due();
  store::Answer<void> return_due(Shelf shelf, store::QueueCursor& cursor, base::TimePoint now);
  store::Answer<void> return_impossible(base::TimePoint now);
  // Everything from a position on; the log says why.
  store::Answer<void> return_from(Shelf shelf, const std::string& first, base::TimePoint now, std::string_view reason);
  MoveReport return_these(std::vector<StoredMessage> messages, base::TimePoint now);
  // Where a message goes that was due, or was held.
  StoredMessage returned_to_ready(StoredMessage message);
  // The dead queue, for a message that cannot be read; nullopt when it is here.
  std::optional<StoredMessage> set_aside(const StoredMessage& message);
  store::Answer<bool> take_some(const Demand& demand, std::size_t& bytes, std::vector<StoredMessage>& taken);
  std::vector<std::string> next_positions(base::TimePoint time, std::size_t count);
  void arrived();

  const std::shared_ptr<QueueTable> shared_table_;
  QueueTable& table_;
  const base::Clock& clock_;
  const std::string tag_;  // of its own: two that have the same name do not give the same positions
  const std::string name_;
  const base::Milliseconds lease_;

  std::mutex turn_;  // of those who take: they would only get in each other's way
  store::QueueCursor ready_, later_, held_;
  base::TimePoint looked_;                                   // for what is due
  std::optional<base::Milliseconds> looked_for_impossible_;  // leases, by the monotonic clock
  std::atomic<bool> returned_ = false;

  std::mutex counting_;
  base::Milliseconds next_recount_{0};  // by the monotonic clock

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t arrivals_ = 0;
  base::TimePoint last_time_;  // of the last position that was given
  std::uint32_t last_number_ = 0;
};

}  // namespace postino::messages
