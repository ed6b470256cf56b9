// Items locked for planning: looked up, locked in order and read; and, once decided, handed to the commit queue.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/catalog/core.h"
#include "engine/items/change.h"
#include "engine/items/transaction_tokens.h"

namespace postino::engine {

// A request's hold on the items it writes. Use it once:
//   lock() the keys, see that the tables are still the ones the keys were made for, read() and decide, then queue().
class LockedItems {
 public:
  explicit LockedItems(Core& core) : core_(core) {}

  void lock(const std::vector<std::string>& keys);
  void unlock() { guard_.reset(); }

  // Definitions may have changed between the look-up and the lock; then the request starts over.
  bool still_current(const TablePointer& table) const { return core_.catalog->find(table->name) == table; }

  // The item as the last planned write leaves it.
  base::Result<StoredItemPointer> read(const std::string& key) { return core_.read_latest(key, depends_on_pending_); }

  // The same for a client request token, whose lock key was locked with the others.
  base::Result<std::optional<TokenRecord>> read_token(const std::string& token) {
    return find_token(core_, token, depends_on_pending_);
  }

  // Does anything that was read rest on a write that is not on disk yet?
  bool depends_on_pending() const { return depends_on_pending_; }

  // Adds the change to the entry and returns what it did to the indexes. All changes come before queue().
  std::vector<IndexEffect> plan(const Table& table, Change change, CommitEntry& entry, Origin origin = Origin::request);

  void plan_token(const std::string& token, const TokenRecord& record, CommitEntry& entry);

  // Hands the entry to the queue when there is something to write or to wait for. True when it did.
  bool queue(const std::shared_ptr<CommitEntry>& entry);

 private:
  Core& core_;
  std::optional<KeyLocks::Guard> guard_;
  bool depends_on_pending_ = false;
  std::vector<std::pair<std::string, StoredItemPointer>> pending_;  // what each key holds once queued
};

// Refuses new writes while too many wait for the disk.
store::Answer<void> check_room(const Core& core);

}  // namespace postino::engine
