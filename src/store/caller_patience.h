// How long those who have asked for something wait for a store on other machines that does not answer.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace postino::store {

// As long as it exists, the calls that its thread makes wait no longer for answers that do not come than one call may,
// all together. So a request that needs many calls ends soon when the store hangs, and takes its time when the store
// does what is asked. Threads that work by themselves have none: each of their calls has its own time.
class CallerPatience {
 public:
  using Duration = std::chrono::steady_clock::duration;

  CallerPatience() : outer_(current_) { current_ = this; }
  ~CallerPatience() { current_ = outer_; }
  CallerPatience(const CallerPatience&) = delete;
  CallerPatience& operator=(const CallerPatience&) = delete;

  // What is left for a call that may take so long.
  static Duration left(Duration call_time) {
    return current_ == nullptr ? call_time : std::max(call_time - current_->spent_, Duration(0));
  }
  // A call has waited so long, and was not answered.
  static void spend(Duration time) {
    if (current_ != nullptr) current_->spent_ += time;
  }

 private:
  static inline thread_local CallerPatience* current_ = nullptr;

  CallerPatience* const outer_;
  Duration spent_{0};
};

}  // namespace postino::store
