#include "engine/upkeep/index_backfill.h"

#include <map>

#include "engine/items/change.h"
#include "engine/items/traffic.h"
#include "engine/storage/keys.h"

namespace postino::engine {

namespace {

// All planning stands still while a chunk is worked on, so it is kept small.
constexpr std::size_t items_per_chunk = 100;
constexpr std::size_t bytes_per_chunk = 256 << 10;

// What has a backfill of its own: an index, or the time to live.
struct Target {
  std::string table_name;
  ObjectId table = 0;
  ObjectId index = 0;  // 0: the time to live
};

std::vector<Target> unfinished(const CatalogState& state) {
  std::vector<Target> targets;
  for (const auto& [name, table] : state.tables) {
    for (const Index& index : table->indexes)
      if (index.backfill && !table->is_allocating(index)) targets.push_back({name, table->id, index.id});
    if (table->time_to_live && table->time_to_live->backfill) targets.push_back({name, table->id, 0});
  }
  return targets;
}

// nullptr when it is finished or gone.
std::optional<Backfill>* find_backfill(Table& table, const Target& target) {
  if (table.id != target.table) return nullptr;
  std::optional<Backfill>* found = nullptr;
  for (Index& index : table.indexes)
    if (index.id == target.index) found = &index.backfill;
  if (target.index == 0 && table.time_to_live) found = &table.time_to_live->backfill;
  return found != nullptr && found->has_value() ? found : nullptr;
}

// Keys in (after, until], as bounds of an iterator.
struct Span {
  Span(const std::string& after, const std::string& until) : lower(after + '\0'), upper(until + '\0') {}
  const std::string lower;
  const std::string upper;
  const rocksdb::Slice lower_bound{lower};
  const rocksdb::Slice upper_bound{upper};
};

// The last key of the next chunk; empty when what is left is no more than a chunk.
base::Result<std::optional<std::string>> end_of_chunk(const Core& core, const std::string& after,
                                                      const std::string& until) {
  const Span span(after, until);
  const auto items = core.database->iterate(Family::items, span.lower_bound, span.upper_bound);
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (items->SeekToFirst(); items->Valid(); items->Next()) {
    bytes += items->value().size();
    if (++count == items_per_chunk || bytes >= bytes_per_chunk) return items->key().ToString();
  }
  if (!items->status().ok()) return base::propagate(error_from(items->status()));
  return std::nullopt;
}

using Items = std::map<std::string, StoredItemPointer>;  // nullptr: deleted

// The items in (after, until] as the last planned writes leave them. All key locks are held: a write is on disk or
// pending, and cannot move from one to the other unseen.
base::Result<Items> latest_items(const Core& core, const std::string& after, const std::string& until) {
  Items found;
  const Span span(after, until);
  const auto items = core.database->iterate(Family::items, span.lower_bound, span.upper_bound);
  for (items->SeekToFirst(); items->Valid(); items->Next()) {
    TRY(StoredItemPointer item, load_item(items->value().ToStringView()));
    found.emplace_hint(found.end(), items->key().ToString(), std::move(item));
  }
  if (!items->status().ok()) return base::propagate(error_from(items->status()));
  for (auto& [key, item] : core.locks.pending_between(after, until)) found.insert_or_assign(key, std::move(item));
  return found;
}

// Returns the write units that the entries of an index take.
double plan_items(const Table& table, const Target& target, const Items& items, base::TimePoint now,
                  CommitEntry& entry) {
  double units = 0;
  for (const auto& [key, item] : items) {
    if (!item) continue;
    if (target.index == 0) plan_expiry_entry(table, key, *item, now, entry);
    for (const Index& index : table.indexes)
      if (index.id == target.index) units += plan_index_entry(index, key, item, entry);
  }
  return units;
}

void count_entries(const Core& core, const Table& table, const Target& target, double units) {
  for (const Index& index : table.indexes)
    if (index.id == target.index && units > 0) count_backfill(core, table, index, units);
}

// One chunk. True when there is more. What is filled is declared ready in a commit of its own: a change of the catalog
// can be seen before what is committed with it, and a ready index must have all its entries.
store::Answer<bool> fill_chunk(Core& core, const Target& target) {
  const std::lock_guard control(core.control_mutex);
  const TablePointer found = core.catalog->find(target.table_name);
  if (!found) return false;
  Table table = *found;
  std::optional<Backfill>* backfill = find_backfill(table, target);
  if (backfill == nullptr) return false;

  // No item has the bare prefix as its key.
  const std::string after = std::max((*backfill)->cursor, id_prefix(table.id));
  const std::string end_of_table = id_prefix(table.id + 1);
  if (after != end_of_table) {
    TRY(const std::optional<std::string> last, end_of_chunk(core, after, end_of_table));
    const std::string until = last.value_or(end_of_table);
    (*backfill)->cursor = until;
    double units = 0;
    TRY_VOID(core.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
      TRY(const Items items, latest_items(core, after, until));
      units = plan_items(table, target, items, core.now(), entry);
      put_table(state, entry, table);
      return {};
    }));
    count_entries(core, table, target, units);
    if (last) return true;
  }
  backfill->reset();
  TRY_VOID(core.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    put_table(state, entry, table);
    return {};
  }));
  return false;
}

}  // namespace

store::Answer<bool> run_index_backfill_once(Core& core) {
  bool more = false;
  const CatalogStatePointer state = core.catalog->state();
  store::Answer<void> filled;  // a damaged item must not keep other tables from being filled
  for (const Target& target : unfinished(*state)) {
    const store::Answer<bool> chunk = fill_chunk(core, target);
    if (chunk)
      more |= *chunk;
    else
      filled = base::propagate(chunk.error());
  }
  TRY_VOID(filled);
  return more;
}

}  // namespace postino::engine
