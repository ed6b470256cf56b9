// Deletes items whose time to live has passed. It finds them through the expiry entries, which lie by second, so its
// work is proportional to what expires and not to what is stored.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/catalog/core.h"
#include "engine/storage/keys.h"

namespace postino::engine {

// Used by one thread at a time.
class ExpirySweeper {
 public:
  explicit ExpirySweeper(Core& core) : core_(core) {}

  // From now on the guard is asked before an item is deleted. Not while run_once() is running.
  void set_guard(ExpiryGuard guard) { guard_ = std::move(guard); }

  // One bounded round over all tables, each getting its turn. True when there is more to do right away.
  store::Answer<bool> run_once();

 private:
  // A table that is being swept, and the key of the first expiry entry not yet looked at. Groups have a pass of their
  // own.
  struct Pass {
    TablePointer table;
    bool of_groups = false;
    std::string next;
    std::string after_kept;  // the key after the last entry whose item the guard keeps; empty when there is none
  };
  // Items that the guard keeps would be met again in every round. For a while, passes begin behind them.
  struct Kept {
    std::string after;
    base::Milliseconds until;  // by the monotonic clock
  };
  // An entry that is due, of one item or of a group.
  struct Due {
    std::string key;
    std::int64_t second = 0;
    std::vector<std::string> stored_item_keys;
  };
  struct Planned {
    std::shared_ptr<CommitEntry> entry;  // null when there is nothing to write
    bool is_table_gone = false;          // or its items expire no longer
    bool keeps_some = false;
  };

  void start_passes();
  // Up to `limit` entries that are due, none when there are no more; moves the pass on.
  base::Result<std::vector<Due>> collect(Pass& pass, std::size_t limit) const;
  // Deletes what has expired and the entries that no longer hold.
  base::Result<Planned> plan(const Table& seen, const std::vector<Due>& due);
  base::Result<void> sweep(std::vector<std::shared_ptr<CommitEntry>>& queued);
  // The number of entries that were dealt with; 0 when the pass is over.
  base::Result<std::size_t> take_turn(Pass& pass, std::vector<std::shared_ptr<CommitEntry>>& queued);
  void finish(const Pass& pass);

  Core& core_;
  ExpiryGuard guard_;
  std::map<std::pair<ObjectId, bool>, Kept> kept_;  // by table, and whether of groups
  std::deque<Pass> passes_;                         // kept from round to round while there is more to do
  std::map<ObjectId, std::size_t> removed_;         // entries of each table, since they were last compacted
};

}  // namespace postino::engine
