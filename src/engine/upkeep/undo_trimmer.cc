#include "engine/upkeep/undo_trimmer.h"

#include <algorithm>

#include "engine/storage/keys.h"

namespace postino::engine {

namespace {

// Each trimming changes the catalog and leaves a mark in the family of the records. Until then they take room alone.
constexpr base::Milliseconds undo_trim_delay = std::chrono::minutes(10);

// The table is kept restorable to the end of `second`: records of later seconds stay.
base::TimePoint behind(base::TimePoint time) {
  return std::chrono::floor<std::chrono::seconds>(time) + std::chrono::seconds(1);
}

}  // namespace

base::Result<std::optional<base::TimePoint>> UndoTrimmer::due(const CatalogState& state, const Table& table) const {
  base::TimePoint until = behind(core_.now() - std::chrono::days(table.recovery->period_days));
  const auto keep_for = [&](const Table& filled) {
    if (filled.restore && filled.restore->source == table.id)
      until = std::min(until, base::TimePoint(std::chrono::floor<std::chrono::seconds>(filled.restore->end())));
  };
  for (const auto& [name, other] : state.tables) keep_for(*other);
  for (const auto& [id, backup] : state.backups) keep_for(backup->table);
  const base::TimePoint trimmed = table.recovery->trimmed_until.value_or(base::TimePoint());
  const std::string first = undo_key(table.id, base::epoch_milliseconds(trimmed), 0);
  const std::string end = id_prefix(table.id + 1);
  const rocksdb::Slice lower(first);
  const rocksdb::Slice upper(end);
  const auto records = core_.database->iterate(Family::undo, lower, upper);
  records->SeekToFirst();
  if (!records->status().ok()) return base::propagate(error_from(records->status()));
  const auto oldest = records->Valid() ? parse_undo_key(records->key().ToStringView()) : std::nullopt;
  if (!oldest || base::from_epoch_milliseconds(oldest->time) + undo_trim_delay >= until) return std::nullopt;
  return std::optional(until);
}

store::Answer<bool> UndoTrimmer::run_once() {
  const std::lock_guard control(core_.control_mutex);
  const CatalogStatePointer state = core_.catalog->state();
  std::vector<Table> trimmed;
  for (const auto& [name, table] : state->tables) {
    if (!table->recovery) continue;
    TRY(const auto until, due(*state, *table));
    if (!until) continue;
    trimmed.push_back(*table);
    trimmed.back().recovery->trimmed_until = *until;
  }
  if (trimmed.empty()) return false;
  TRY_VOID(core_.change_catalog([&](CatalogState& after, CommitEntry& entry) -> store::Answer<void> {
    for (const Table& table : trimmed) {
      entry.remove_range(Family::undo, id_prefix(table.id),
                         undo_key(table.id, base::epoch_milliseconds(*table.recovery->trimmed_until), 0));
      put_table(after, entry, table);
    }
    return {};
  }));
  return false;
}

}  // namespace postino::engine
