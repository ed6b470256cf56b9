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
  const std::lock_guard lock(mutex_);
  held_.insert_or_assign(email.id, Held{std::move(needed), email.due_at.value_or(clock_.now())});
}

void Leases::drop(const Email& email) {
  const std::lock_guard lock(mutex_);
  const auto held = held_.find(email.id);
  if (held != held_.end() && held->second.email.version == email.version) held_.erase(held);
}

bool Leases::holds(const Email& email) const {
  const std::lock_guard lock(mutex_);
  const auto held = held_.find(email.id);
  return held != held_.end() && held->second.email.version == email.version && clock_.now() < held->second.until;
}

void Leases::renew_once() {
  const base::TimePoint now = clock_.now();
  std::vector<Email> due;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, held] : held_)
      if (held.until - now <= lease_ * 2 / 3) due.push_back(held.email);
  }
  if (due.empty()) return;
  const auto kept = ledger_.renew(due, now + lease_);
  if (!kept) {
    base::log_warning("outbox", "leases could not be renewed", {{"error", kept.error().message}});
    return;
  }
  const std::lock_guard lock(mutex_);
  for (const Email& email : due) {
    const auto held = held_.find(email.id);
    if (held == held_.end() || held->second.email.version != email.version) continue;
    if (std::ranges::find(*kept, email.id) != kept->end())
      held->second.until = now + lease_;
    else
      held_.erase(held);
  }
}

void Leases::run() {
  base::name_thread("outbox-leases");
  std::unique_lock lock(mutex_);
  const base::Milliseconds interval = lease_ / 6;
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
