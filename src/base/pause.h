// Waiting that can be ended: for threads that have nothing to do for a while.
#pragma once

#include <condition_variable>
#include <mutex>

#include "base/clock.h"

namespace postino::base {

// Safe to use from any thread.
class Pause {
 public:
  // Until the time is over or end() is called. After end() no thread waits any more.
  void wait(Milliseconds time) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [&] { return ended_; });
  }
  void end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
};

}  // namespace postino::base
