#include "engine/tables/table_contents.h"

#include "engine/storage/keys.h"

namespace postino::engine {

base::Result<bool> is_empty(const Core& core, const Table& table) {
  const std::string first = id_prefix(table.id);
  const std::string end = id_prefix(table.id + 1);
  if (!core.locks.pending_between(first, end).empty()) return false;
  const rocksdb::Slice lower(first);
  const rocksdb::Slice upper(end);
  const auto items = core.database->iterate(Family::items, lower, upper);
  items->SeekToFirst();
  if (!items->status().ok()) return base::propagate(error_from(items->status()));
  return !items->Valid();
}

}  // namespace postino::engine
