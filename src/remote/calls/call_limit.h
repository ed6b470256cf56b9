// How many calls are on their way at a time.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "net/shutdown_deadline.h"

namespace postino::remote {

// Safe to use from any thread.
class CallLimit {
 public:
  explicit CallLimit(int most) : free_(most) {}

  // A place among the calls, until it is destroyed.
  class Place {
   public:
    explicit Place(CallLimit& limit) : limit_(&limit) {}
    Place(Place&& other) noexcept : limit_(std::exchange(other.limit_, nullptr)) {}
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (limit_ != nullptr) limit_->leave();
    }

   private:
    CallLimit* limit_;
  };

  // Waits for one; nullopt when there is none by then.
  std::optional<Place> enter(net::Deadline deadline) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, deadline, [this] { return free_ > 0; })) return std::nullopt;
    --free_;
    return std::optional<Place>(std::in_place, *this);
  }

 private:
  void leave() {
    {
      const std::lock_guard lock(mutex_);
      ++free_;
    }
    changed_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int free_;
};

}  // namespace postino::remote
