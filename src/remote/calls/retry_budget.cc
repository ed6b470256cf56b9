#include "remote/calls/retry_budget.h"

#include <algorithm>

namespace postino::remote {

std::optional<int> RetryBudget::take(bool after_timeout) {
  const int cost = after_timeout ? repeat_after_timeout_cost : repeat_cost;
  const std::lock_guard lock(mutex_);
  if (tokens_ < cost) return std::nullopt;
  tokens_ -= cost;
  return cost;
}

void RetryBudget::succeed(int cost) {
  const std::lock_guard lock(mutex_);
  tokens_ = std::min(capacity, tokens_ + std::max(cost, first_success_gain));
}

int RetryBudget::left() const {
  const std::lock_guard lock(mutex_);
  return tokens_;
}

}  // namespace postino::remote
