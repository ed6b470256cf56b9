#include "outbox/work/leases.h"

#include <algorithm>

#include "base/log.h"
#include "base/thread_name.h"

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
  // What the renewal needs, and no more: the rest may be large.
  Email needed;
  needed.id = email.id;
  needed.state = email.state;
  needed.version = email.version;
  needed.due_at = email.due_at.value_or(clock_.now());
  const std::lock_guard lock(mutex_);
  held_.insert_or_assign(email.id, std::move(needed));
}

void Leases::drop(const Email& email) {
  const std::lock_guard lock(mutex_);
  const auto held = held_.find(email.id);
  if (held != held_.end() && held->second.version == email.version) held_.erase(held);
}

bool Leases::holds(const Email& email) const {
  const std::lock_guard lock(mutex_);
  const auto held = held_.find(email.id);
  return held != held_.end() && held->second.version == email.version && clock_.now() < held->second.due_at;
}

void Leases::renew_once() {
  const base::TimePoint now = clock_.now();
  std::vector<Change> renewals;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, held] : held_)
      if (*held.due_at - now <= policy_.lease * 2 / 3)
        if (auto renewal = decide(held, event::LeaseRenewed{}, policy_, now)) renewals.push_back(*std::move(renewal));
  }
  if (renewals.empty()) return;
  const auto kept = ledger_.amend(renewals);
  if (!kept) {
    base::log_warning("outbox", "leases could not be renewed", {{"error", kept.error().message}});
    return;
  }
  const std::lock_guard lock(mutex_);
  for (const Change& renewal : renewals) {
    const auto held = held_.find(renewal.after.id);
    if (held == held_.end() || held->second.version != renewal.after.version) continue;
    if (std::ranges::find(*kept, renewal.after.id) != kept->end())
      held->second.due_at = renewal.after.due_at;
    else
      held_.erase(held);
  }
}

void Leases::run() {
  base::name_thread("outbox-leases");
  std::unique_lock lock(mutex_);
  const base::Milliseconds interval = policy_.lease / 6;
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
