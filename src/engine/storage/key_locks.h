// Locks on item keys, and what writers have decided about these items that is not on disk yet.
//
// A writer locks its keys only while it plans: it reads each item as the last planned write leaves it, decides, hands
// its changes to the commit queue and unlocks. So writers of one hot key do not wait for each other's disk writes, and
// all of them go to disk together. Keys share a fixed number of stripes; stripes are always taken in ascending order.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/storage/stored_item.h"

namespace postino::engine {

using Ticket = std::uint64_t;  // of an entry in the commit queue, ascending

struct PendingItem {
  StoredItemPointer item;  // nullptr: deleted
  Ticket ticket = 0;
};

class KeyLocks {
 public:
  static constexpr std::size_t stripe_count = 512;

  static std::size_t stripe_of(std::string_view stored_key);

  // Holds the stripes of some keys, or all stripes.
  class Guard {
   public:
    Guard(KeyLocks& locks, std::vector<std::size_t> stripes);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    KeyLocks* locks_;
    std::vector<std::size_t> stripes_;  // ascending, distinct
  };
  Guard lock(std::vector<std::size_t> stripes) { return Guard(*this, std::move(stripes)); }
  // Stops all planning. For changes of the catalog, which every writer must see at once.
  Guard lock_all();

  // The functions below need the key's stripe (or all) locked by the caller.

  // nullptr when nothing is pending for this key.
  const PendingItem* find_pending(const std::string& stored_key) const;
  void set_pending(const std::string& stored_key, PendingItem pending);
  // All pending items with keys in (after, until], in no order.
  std::vector<std::pair<std::string, StoredItemPointer>> pending_between(std::string_view after,
                                                                         std::string_view until) const;
  void forget_all_pending();

  // Drops what is pending for this key if it is still this ticket's. Locks the stripe itself.
  void release(const std::string& stored_key, Ticket ticket);

 private:
  struct alignas(64) Stripe {
    std::mutex mutex;
    std::unordered_map<std::string, PendingItem> pending;
  };
  std::array<Stripe, stripe_count> stripes_;
};

}  // namespace postino::engine
