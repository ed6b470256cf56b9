// Items locked for planning: found, locked in order and read; and, once decided, handed to the commit queue.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/catalog/core.h"
#include "engine/items/change.h"
#include "engine/items/item_write.h"
#include "engine/items/transaction_tokens.h"

namespace postino::engine {

// What a write makes of its item: a change, or the reason why the write is refused.
using Decision = store::Answer<Change>;

// A request's hold on the items it writes. Use it once: lock, decide and plan each write, then queue().
class LockedItems {
 public:
  explicit LockedItems(Core& core) : core_(core) {}

  // Locks the items of the writes, and the client request token if there is one. `locate` finds the table and the key
  // of each write. A table can be changed after that and before the keys are locked; then `locate` is called again.
  // Fails, with nothing locked, when `locate` does.
  template <class Locate>
  store::Answer<void> lock(std::span<const ItemWrite> writes, const std::optional<std::string>& token,
                           const Locate& locate) {
    while (true) {
      TRY_VOID(locate());
      lock_keys(writes, token);
      if (std::ranges::all_of(writes, [&](const ItemWrite& write) { return is_current(write.table); })) return {};
      guard_.reset();
    }
  }

  // The same for keys that are known; whether they are still those of the table is for the caller to see.
  void lock(const std::vector<std::string>& keys);

  // Fails when the item cannot be read. A write that its condition refuses is charged when throughput is enforced;
  // `factor` is 2 in transactions.
  base::Result<Decision> decide(const ItemWrite& write, double factor = 1);

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
  void lock_keys(std::span<const ItemWrite> writes, const std::optional<std::string>& token);
  bool is_current(const TablePointer& table) const { return core_.catalog->find(table->name) == table; }

  Core& core_;
  std::optional<KeyLocks::Guard> guard_;
  bool depends_on_pending_ = false;
  std::vector<std::pair<std::string, StoredItemPointer>> pending_;  // what each key holds once queued
};

// Sets the table of a write, or fails with DynamoDB's error when there is none.
store::Answer<void> find_table(const Core& core, ItemWrite& write);

// Refuses new writes while too many wait for the disk.
store::Answer<void> check_room(const Core& core);

}  // namespace postino::engine
