// Threads are few, and a call to a broker keeps one until the broker answers. So each broker has a share of them: calls
// beyond it wait without a thread, and beyond that they are refused at once. Calls to a broker that is silent thus
// leave threads to all others, and to the queues in the store.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "messages/connections.h"

namespace postino::messages {

// Safe to use from any thread.
class BrokerShares {
 public:
  struct Limits {
    std::size_t threads = 32;     // that call run()
    std::size_t waiting = 1'024;  // calls that may wait for one
  };
  explicit BrokerShares(const Limits& limits) : limits_(limits) {}

  // Runs the call on this thread, and afterwards calls that have come to wait meanwhile, to this broker or another; or
  // keeps it for a thread that does so. False: too many wait for this broker, and the call is not run. Calls to the
  // queues in the store are run at once. A call must not throw.
  [[nodiscard]] bool run(const BrokerTarget& target, std::function<void()> call);

  std::size_t waiting() const;

 private:
  // Of one broker. It is there as long as there are calls.
  struct Line {
    std::function<broker::Standing()> standing;
    std::size_t running = 0;
    std::deque<std::function<void()>> waiting;
  };

  enum class Entry { runs, waits, refused };
  // One that runs may be changed for the one that has waited longest.
  Entry enter(const BrokerTarget& target, std::function<void()>& call);

  // The mutex is held.
  bool has_turn(const Line& line) const;
  bool may_wait(const Line& line) const;
  std::size_t running_unproven() const;
  // The next call in turn of those that may be run, and its broker; empty when there is none.
  std::function<void()> next(std::string& broker);
  void leave(const std::string& broker);
  void forget_if_empty(const std::string& broker);

  const Limits limits_;
  mutable std::mutex mutex_;
  std::map<std::string, Line, std::less<>> lines_;
  std::size_t running_ = 0;
  std::size_t waiting_ = 0;
  std::string last_served_;  // lines have their turns in the order of their names
};

}  // namespace postino::messages
