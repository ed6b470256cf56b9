#include "engine/storage/key_locks.h"

#include <algorithm>
#include <numeric>

#include "base/hash.h"

namespace postino::engine {

std::size_t KeyLocks::stripe_of(std::string_view stored_key) { return base::fast_hash(stored_key) % stripe_count; }

KeyLocks::Guard::Guard(KeyLocks& locks, std::vector<std::size_t> stripes)
    : locks_(&locks), stripes_(std::move(stripes)) {
  std::ranges::sort(stripes_);
  const auto repeated = std::ranges::unique(stripes_);
  stripes_.erase(repeated.begin(), repeated.end());
  for (const std::size_t stripe : stripes_) locks_->stripes_[stripe].mutex.lock();
}

KeyLocks::Guard::~Guard() {
  for (const std::size_t stripe : stripes_) locks_->stripes_[stripe].mutex.unlock();
}

KeyLocks::Guard KeyLocks::lock_all() {
  std::vector<std::size_t> all(stripe_count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return Guard(*this, std::move(all));
}

const PendingItem* KeyLocks::find_pending(const std::string& stored_key) const {
  const auto& pending = stripes_[stripe_of(stored_key)].pending;
  const auto found = pending.find(stored_key);
  return found == pending.end() ? nullptr : &found->second;
}

void KeyLocks::set_pending(const std::string& stored_key, PendingItem pending) {
  stripes_[stripe_of(stored_key)].pending.insert_or_assign(stored_key, std::move(pending));
}

std::vector<std::pair<std::string, StoredItemPointer>> KeyLocks::pending_between(std::string_view after,
                                                                                 std::string_view until) const {
  std::vector<std::pair<std::string, StoredItemPointer>> found;
  for (const Stripe& stripe : stripes_)
    for (const auto& [key, pending] : stripe.pending)
      if (key > after && key <= until) found.emplace_back(key, pending.item);
  return found;
}

void KeyLocks::forget_all_pending() {
  for (Stripe& stripe : stripes_) stripe.pending.clear();
}

void KeyLocks::release(const std::string& stored_key, Ticket ticket) {
  Stripe& stripe = stripes_[stripe_of(stored_key)];
  std::lock_guard lock(stripe.mutex);
  const auto found = stripe.pending.find(stored_key);
  if (found != stripe.pending.end() && found->second.ticket == ticket) stripe.pending.erase(found);
}

}  // namespace postino::engine
