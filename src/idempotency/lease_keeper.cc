#include "idempotency/lease_keeper.h"

#include <algorithm>
#include <vector>

#include "base/log.h"
#include "base/this_thread.h"

namespace postino::idempotency {

LeaseKeeper::LeaseKeeper(Guard& guard, const base::Clock& clock)
    : guard_(guard), clock_(clock), thread_([this] { run(); }) {}

LeaseKeeper::~LeaseKeeper() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

LeaseKeeper::Hold::~Hold() {
  std::unique_lock lock(keeper_.mutex_);
  keeper_.changed_.wait(lock, [&] { return keeper_.renewing_ != this; });
  keeper_.held_.remove(this);
}

std::unique_ptr<LeaseKeeper::Hold> LeaseKeeper::hold(const Record& record) {
  // What a renewal needs, and no more: the rest may be large.
  Record needed;
  needed.operation = record.operation;
  needed.key = record.key;
  needed.owner = record.owner;
  needed.lease_until = record.lease_until;
  needed.expires_at = record.expires_at;
  const base::Milliseconds left =
      std::clamp<base::Milliseconds>(needed.lease_until - clock_.now(), base::Milliseconds(0), guard_.lease());
  const base::Milliseconds granted = clock_.monotonic() - (guard_.lease() - left);
  std::unique_ptr<Hold> hold(new Hold(*this, std::move(needed), granted));
  const std::lock_guard lock(mutex_);
  held_.push_back(hold.get());
  return hold;
}

void LeaseKeeper::renew_once() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return renewing_ == nullptr; });
  const base::TimePoint now = clock_.now();
  for (auto next = held_.begin(); next != held_.end();) {
    Hold& hold = **next;
    if (!hold.is_lost() && hold.record_.lease_until - now <= guard_.lease() * 2 / 3) (void)renew(hold, lock);
    // The hold was kept from going away; the one after it may have.
    ++next;
  }
}

store::Answer<void> LeaseKeeper::Hold::confirm() {
  std::unique_lock lock(keeper_.mutex_);
  const auto is_fresh = [&] { return keeper_.clock_.monotonic() - renewed_ < keeper_.guard_.lease() * 2 / 3; };
  // The keeper may be about to renew it.
  keeper_.changed_.wait(lock, [&] { return keeper_.renewing_ == nullptr || lost_ || is_fresh(); });
  if (lost_)
    return store::refuse(store::ErrorType::conditional_check_failed, "another process has taken the execution over");
  if (is_fresh()) return {};
  return keeper_.renew(*this, lock);
}

// Without the lock for as long as the store takes.
store::Answer<void> LeaseKeeper::renew(Hold& hold, std::unique_lock<std::mutex>& lock) {
  renewing_ = &hold;
  Record record = hold.record_;
  const base::Milliseconds began = clock_.monotonic();
  lock.unlock();
  const auto renewed = guard_.renew(record);
  lock.lock();
  renewing_ = nullptr;
  changed_.notify_all();
  if (renewed) {
    hold.record_.lease_until = record.lease_until;
    hold.renewed_ = began;
  } else if (renewed.error().type == store::ErrorType::conditional_check_failed) {
    hold.lost_ = true;
  } else {
    base::log_warning("idempotency", "a lease could not be renewed",
                      {{"operation", record.operation}, {"cause", renewed.error().message}});
  }
  return renewed;
}

void LeaseKeeper::run() {
  base::name_thread("leases");
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait_for(lock, guard_.lease() / 6, [&] { return stopping_; });
    if (stopping_) return;
    lock.unlock();
    renew_once();
    lock.lock();
  }
}

}  // namespace postino::idempotency
