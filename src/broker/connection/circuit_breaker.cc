#include "broker/connection/circuit_breaker.h"

#include <algorithm>

#include "base/log.h"

namespace postino::broker {

std::optional<CircuitBreaker::Attempt> CircuitBreaker::begin(const std::string& endpoint) {
  const std::lock_guard lock(mutex_);
  const auto known = states_.find(endpoint);
  if (known == states_.end() || !known->second.silent) return Attempt{endpoint, false};
  if (!may_probe(known->second)) return std::nullopt;
  known->second.is_probing = true;
  return Attempt{endpoint, true};
}

void CircuitBreaker::end(const Attempt& attempt, Outcome outcome) {
  const std::lock_guard lock(mutex_);
  if (!states_.contains(attempt.endpoint)) make_room();
  State& state = states_[attempt.endpoint];
  if (attempt.is_probe) state.is_probing = false;
  if (outcome == Outcome::untried) return;
  const bool was_silent = state.silent;
  state.answers = outcome == Outcome::answered;
  state.silent = outcome == Outcome::in_vain;
  if (state.silent) state.next_probe = now_() + pause_;
  if (state.silent && !was_silent)
    base::log_warning("broker", "an endpoint does not answer; one call at a time tries it from now on",
                      {{"endpoint", attempt.endpoint}});
  if (was_silent && state.answers)
    base::log_info("broker", "an endpoint answers again", {{"endpoint", attempt.endpoint}});
}

// Brokers that no caller waits for are forgotten first.
void CircuitBreaker::make_room() {
  if (states_.size() < most_endpoints_known) return;
  const auto idle = std::ranges::find_if(states_, [](const auto& each) { return !each.second.silent; });
  states_.erase(idle == states_.end() ? states_.begin() : idle);
}

bool CircuitBreaker::is_silent(const std::string& endpoint) const {
  const std::lock_guard lock(mutex_);
  const auto known = states_.find(endpoint);
  return known != states_.end() && known->second.silent;
}

Standing CircuitBreaker::standing_of(const std::string& endpoint) const {
  const auto known = states_.find(endpoint);
  if (known == states_.end()) return Standing::unproven;
  const State& state = known->second;
  if (state.silent) return may_probe(state) ? Standing::unproven : Standing::silent;
  return state.answers ? Standing::answers : Standing::unproven;
}

Standing CircuitBreaker::standing(const std::vector<std::string>& endpoints) const {
  const std::lock_guard lock(mutex_);
  bool is_silent = !endpoints.empty();
  for (const std::string& endpoint : endpoints) {
    const Standing each = standing_of(endpoint);
    if (each == Standing::answers) return each;
    is_silent = is_silent && each == Standing::silent;
  }
  return is_silent ? Standing::silent : Standing::unproven;
}

}  // namespace postino::broker
