// What acceptance and the workers tell each other: that there is work, and how many e-mails come in. Both know this
// object; neither knows the other.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>

#include "outbox/email/email.h"

namespace postino::outbox {

// How many there were in this period and the one before.
class RecentCount {
 public:
  explicit RecentCount(std::chrono::milliseconds period) : period_(period) {}

  void add(std::size_t count, std::chrono::steady_clock::time_point now) {
    turn(now);
    present_ += count;
  }
  std::size_t get(std::chrono::steady_clock::time_point now) {
    turn(now);
    return before_ + present_;
  }

 private:
  void turn(std::chrono::steady_clock::time_point now) {
    if (now - begin_ < period_) return;
    before_ = now - begin_ < 2 * period_ ? present_ : 0;
    present_ = 0;
    begin_ = now;
  }

  const std::chrono::milliseconds period_;
  std::chrono::steady_clock::time_point begin_;
  std::size_t present_ = 0;
  std::size_t before_ = 0;
};

// Safe to use from any thread.
class WorkSignal {
 public:
  // Called for each announcement, by the thread that makes it; must not wait. An empty one ends that: it is not called
  // any more when this returns.
  using Listener = std::function<void(Pipeline)>;
  void listen(Listener listener);

  // After a commit that made work for the pipeline.
  void announce(Pipeline pipeline);
  // The same for the pipeline that the e-mail waits for, if it does.
  void announce(const Email& email);

  // E-mails were handed in. Many in the last moments? Then work that is not urgent makes way.
  void note_arrivals(std::size_t count);
  bool are_many_arriving();

 private:
  static constexpr std::chrono::milliseconds moment{50};

  std::mutex listener_mutex_;
  Listener listener_;
  std::mutex arrivals_mutex_;  // another one: loops ask with their own mutex held, which announcements wait for
  RecentCount arrivals_{moment};
};

}  // namespace postino::outbox
