// How much the calls of this process may try again, all together: when a service fails for everyone, repeating
// everything makes it worse.
#pragma once

#include <mutex>
#include <optional>

namespace postino::remote {

// A store of tokens. A repeat takes some, a call that succeeds brings some back. Safe to use from any thread.
class RetryBudget {
 public:
  static constexpr int capacity = 500;
  static constexpr int repeat_cost = 5;
  static constexpr int repeat_after_timeout_cost = 10;
  static constexpr int first_success_gain = 1;

  // The cost of one more repeat; nullopt when there are too few tokens left: the call is then given up.
  std::optional<int> take(bool after_timeout);
  // A call succeeded; `cost` is what its last repeat has taken, 0 when the first attempt did.
  void succeed(int cost);
  int left() const;

 private:
  mutable std::mutex mutex_;
  int tokens_ = capacity;
};

}  // namespace postino::remote
