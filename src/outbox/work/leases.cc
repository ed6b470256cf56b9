#include "outbox/work/leases.h"

#include <algorithm>

#include "base/log.h"
#include "base/this_thread.h"

namespace postino::outbox {

void Leases::start() {
  thread_ = std::thread([this] { run(); });
}

void Leases::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Leases::hold(const Email& email) {
  const base::TimePoint now = clock_.now();
  Held held;
  held.valid_until = clock_.monotonic() + std::min(email.due_at.value_or(now) - now, policy_.lease);
  // What the renewal needs, and no more: the rest may be large.
  held.email.id = email.id;
  held.email.state = email.state;
  held.email.version = email.version;
  held.email.due_at = email.due_at.value_or(now);
  const std::lock_guard lock(mutex_);
  held_.insert_or_assign(email.id, std::move(held));
}

void Leases::drop(const Email& email) {
  const std::lock_guard lock(mutex_);
  const auto held = held_.find(email.id);
  if (held != held_.end() && held->second.email.version == email.version) held_.erase(held);
}

bool Leases::holds(const Email& email) const {
  const std::lock_guard lock(mutex_);
  const auto held = held_.find(email.id);
  return held != held_.end() && held->second.email.version == email.version &&
         clock_.monotonic() < held->second.valid_until;
}

std::size_t Leases::count() const {
  const std::lock_guard lock(mutex_);
  return held_.size();
}

bool Leases::has(const Email& email) const {
  const std::lock_guard lock(mutex_);
  const auto held = held_.find(email.id);
  return held != held_.end() && held->second.email.version == email.version;
}

void Leases::renew_once() {
  // What is renewed in the end is renewed from here on.
  const base::Milliseconds began = clock_.monotonic();
  const base::TimePoint now = clock_.now();
  std::vector<Change> renewals;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, held] : held_)
      if (held.valid_until - began <= policy_.lease * 2 / 3)
        if (auto renewal = decide(held.email, event::LeaseRenewed{}, policy_, now))
          renewals.push_back(*std::move(renewal));
  }
  if (renewals.empty()) return;
  const Renewals outcome = ledger_.renew(renewals);
  if (!outcome.error.empty()) {
    if (trouble_.fails(outcome.error))
      base::log_warning("outbox", "leases cannot be renewed", {{"error", outcome.error}});
    health_.check();
  } else if (trouble_.works()) {
    base::log_info("outbox", "leases are renewed again");
  }
  const std::lock_guard lock(mutex_);
  for (const Change& renewal : renewals) {
    const auto held = held_.find(renewal.after.id);
    if (held == held_.end() || held->second.email.version != renewal.after.version) continue;
    if (std::ranges::find(outcome.kept, renewal.after.id) != outcome.kept.end()) {
      held->second.email.due_at = renewal.after.due_at;
      held->second.valid_until = began + policy_.lease;
    } else if (std::ranges::find(outcome.lost, renewal.after.id) != outcome.lost.end()) {
      held_.erase(held);
    }
  }
}

void Leases::run() {
  base::name_thread("outbox-leases");
  std::unique_lock lock(mutex_);
  const base::Milliseconds interval = renewal_interval(policy_);
  for (bool took_long = false; !stopping_;) {
    if (!took_long) changed_.wait_for(lock, interval);
    if (stopping_) return;
    lock.unlock();
    const auto began = std::chrono::steady_clock::now();
    renew_once();
    // What was renewed in the end was renewed from the beginning of the call.
    took_long = std::chrono::steady_clock::now() - began > interval;
    lock.lock();
  }
}

}  // namespace postino::outbox
