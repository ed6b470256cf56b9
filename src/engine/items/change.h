// The one write path: every kind of write becomes a Change, and this turns changes into what goes to disk.
#pragma once

#include <string>
#include <vector>

#include "engine/catalog/table.h"
#include "engine/storage/commit_queue.h"
#include "engine/storage/stored_item.h"

namespace postino::engine {

enum class Origin { request, time_to_live };

// An item's key, and the item before and after. nullptr is no item; both may be there and equal.
struct Change {
  std::string key;
  StoredItemPointer before;
  StoredItemPointer after;
};

// What a change cost in one index.
struct IndexEffect {
  const Index* index = nullptr;
  double write_units = 0;
  double removal_units = 0;        // of these, for an entry that was removed
  std::size_t first_mutation = 0;  // of the commit's: the removal, if there is one, and then the entry that was put
};

// Adds to the entry: the item, its index entries, its expiry, its stream and undo records and the counts. Returns the
// indexes that were written.
std::vector<IndexEffect> plan_change(const Table& table, const Change& change, Origin origin, base::TimePoint now,
                                     CommitEntry& entry);

// The same for one index alone, for an item that was there before the index: backfill. Returns its write units.
double plan_index_entry(const Index& index, const std::string& key, const StoredItemPointer& item, CommitEntry& entry);
// And for the expiry alone.
void plan_expiry_entry(const Table& table, const std::string& key, const StoredItem& item, base::TimePoint now,
                       CommitEntry& entry);

// What a change would do to the indexes; nothing is planned.
std::vector<IndexEffect> index_effects(const Table& table, const Change& change);

// When the item expires by the table's time to live, if at all: a number of seconds that is not more than five years
// in the past.
std::optional<std::int64_t> expiry_second(const Table& table, const item::Item& item, base::TimePoint now);

// What an index keeps of an item.
item::Item projected(const Index& index, const item::Item& item);

}  // namespace postino::engine
