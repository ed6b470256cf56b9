#include "engine/index_backfill.h"

#include <map>

#include "engine/change.h"
#include "engine/keys.h"

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
      if (index.backfill) targets.push_back({name, table->id, index.id});
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

// The part of a table that comes after the cursor.
struct Rest {
  Rest(ObjectId table, const std::string& cursor)
      : lower(std::max(cursor + '\0', id_prefix(table))), upper(id_prefix(table + 1)) {}
  std::string lower;
  std::string upper;
};

// The last key of the next chunk; empty when the rest of the table is no more than a chunk.
base::Result<std::optional<std::string>> end_of_chunk(const Core& core, const Rest& rest) {
  const rocksdb::Slice lower(rest.lower);
  const rocksdb::Slice upper(rest.upper);
  const auto items = core.database->iterate(Family::items, lower, upper);
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (items->SeekToFirst(); items->Valid(); items->Next()) {
    bytes += items->value().size();
    if (++count == items_per_chunk || bytes >= bytes_per_chunk) return items->key().ToString();
  }
  if (!items->status().ok()) return base::propagate(error_from(items->status()));
  return std::nullopt;
}

// The items as the last planned writes leave them. All key locks are held, so a write is either on disk or pending,
// and cannot move from one to the other unseen.
base::Result<std::map<std::string, StoredItemPointer>> latest_items(const Core& core, const Rest& rest,
                                                                    const std::string& cursor,
                                                                    const std::optional<std::string>& last) {
  std::map<std::string, StoredItemPointer> found;
  const std::string end = last ? *last + '\0' : rest.upper;
  const rocksdb::Slice lower(rest.lower);
  const rocksdb::Slice upper(end);
  const auto items = core.database->iterate(Family::items, lower, upper);
  for (items->SeekToFirst(); items->Valid(); items->Next()) {
    TRY(StoredItemPointer item, load_item(items->value().ToStringView()));
    found.emplace_hint(found.end(), items->key().ToString(), std::move(item));
  }
  if (!items->status().ok()) return base::propagate(error_from(items->status()));
  for (auto& [key, item] : core.locks.pending_between(std::max(cursor, id_prefix(rest_table(rest))), last.value_or(rest.upper)))
    found.insert_or_assign(key, std::move(item));
  return found;
}

}  // namespace

}  // namespace postino::engine
