#include "messages/broker_shares.h"

#include <algorithm>

namespace postino::messages {

namespace {

using broker::Standing;

constexpr std::size_t at_least_one(std::size_t count) { return std::max<std::size_t>(count, 1); }

}  // namespace

std::size_t BrokerShares::running_unproven() const {
  std::size_t count = 0;
  for (const auto& [name, line] : lines_)
    if (line.running > 0 && line.standing() != Standing::answers) count += line.running;
  return count;
}

// A quarter of the threads is left to the queues in the store, whatever brokers do. One that answers may have half; one
// that has not answered yet a quarter, and all of these together half.
bool BrokerShares::has_turn(const Line& line) const {
  const Standing standing = line.standing();
  if (standing == Standing::silent) return true;  // it is told so at once
  const std::size_t threads = limits_.threads;
  if (running_ >= at_least_one(threads - threads / 4)) return false;
  if (standing == Standing::answers) return line.running < at_least_one(threads / 2);
  return line.running < at_least_one(threads / 4) && running_unproven() < at_least_one(threads / 2);
}

bool BrokerShares::may_wait(const Line& line) const {
  const std::size_t share = limits_.waiting / (line.standing() == Standing::answers ? 4 : 16);
  return line.waiting.size() < share && waiting_ < limits_.waiting / 2;
}

BrokerShares::Entry BrokerShares::enter(const BrokerTarget& target, std::function<void()>& call) {
  const std::lock_guard lock(mutex_);
  Line& line = lines_.try_emplace(target.broker, Line{target.standing, 0, {}}).first->second;
  if (!has_turn(line)) {
    const bool waits = may_wait(line);
    if (waits) {
      line.waiting.push_back(std::move(call));
      ++waiting_;
    }
    forget_if_empty(target.broker);
    return waits ? Entry::waits : Entry::refused;
  }
  if (!line.waiting.empty()) {
    line.waiting.push_back(std::move(call));
    call = std::move(line.waiting.front());
    line.waiting.pop_front();
  }
  ++line.running;
  ++running_;
  return Entry::runs;
}

bool BrokerShares::run(const BrokerTarget& target, std::function<void()> call) {
  if (target.broker.empty()) {
    call();
    return true;
  }
  const Entry entry = enter(target, call);
  if (entry != Entry::runs) return entry == Entry::waits;
  std::string broker = target.broker;
  while (call) {
    call();
    call = nullptr;  // what it holds goes before the lock is taken
    const std::lock_guard lock(mutex_);
    leave(broker);
    call = next(broker);
  }
  return true;
}

void BrokerShares::leave(const std::string& broker) {
  --running_;
  --lines_.at(broker).running;
  forget_if_empty(broker);
}

void BrokerShares::forget_if_empty(const std::string& broker) {
  const auto line = lines_.find(broker);
  if (line->second.running == 0 && line->second.waiting.empty()) lines_.erase(line);
}

std::function<void()> BrokerShares::next(std::string& broker) {
  auto line = lines_.upper_bound(last_served_);
  for (std::size_t looked_at = 0; looked_at < lines_.size(); ++looked_at, ++line) {
    if (line == lines_.end()) line = lines_.begin();
    if (line->second.waiting.empty() || !has_turn(line->second)) continue;
    broker = last_served_ = line->first;
    auto call = std::move(line->second.waiting.front());
    line->second.waiting.pop_front();
    --waiting_;
    ++line->second.running;
    ++running_;
    return call;
  }
  return nullptr;
}

std::size_t BrokerShares::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

}  // namespace postino::messages
