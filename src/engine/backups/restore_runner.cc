#include "engine/backups/restore_runner.h"

#include <algorithm>

#include "base/log.h"
#include "engine/items/change.h"
#include "engine/tables/table_transition.h"

namespace postino::engine {

namespace {

constexpr int portions_per_round = 16;

bool has_source(const CatalogState& state, const Restore& restore) {
  if (restore.backup) return state.backups.contains(*restore.backup);
  return std::ranges::any_of(state.tables, [&](const auto& each) {
    return each.second->id == restore.source && each.second->keeps_undo_records();
  });
}

struct Unfinished {
  TablePointer table;
  std::optional<std::string> backup;
};
std::optional<Unfinished> first_unfinished(const CatalogState& state) {
  for (const auto& [id, backup] : state.backups)
    if (backup->is_being_made()) return Unfinished{{backup, &backup->table}, id};
  for (const auto& [name, table] : state.tables)
    if (table->restore) return Unfinished{table, std::nullopt};
  return std::nullopt;
}

// No backup is made of the table any more: unless it can be brought back, its records go.
void stop_recording(const Restore& made, CatalogState& state, CommitEntry& entry) {
  const auto found =
      std::ranges::find_if(state.tables, [&](const auto& each) { return each.second->id == made.source; });
  if (found == state.tables.end() || !found->second->is_recorded || filled_from(state, made.source)) return;
  Table source = *found->second;
  source.is_recorded = false;
  if (!source.recovery) entry.remove_range(Family::undo, id_prefix(source.id), id_prefix(source.id + 1));
  put_table(state, entry, std::move(source));
}

// The same item of another table.
std::string key_in(ObjectId table, std::string_view stored_key) {
  std::string key = id_prefix(table);
  key.append(stored_key.substr(object_id_size));
  return key;
}

// An image has no index entries.
base::Result<void> plan_items(const Table& table, bool is_image, const std::vector<PastItems::Item>& items,
                              CommitEntry& entry) {
  StatisticsDelta total{table.id, table.statistics, 0, 0};
  for (const PastItems::Item& each : items) {
    const std::string key = key_in(table.id, each.key);
    TRY(const StoredItemPointer item, load_item(each.value));
    if (!is_image)
      for (const Index& index : table.indexes) plan_index_entry(index, key, item, entry);
    ++total.count;
    total.bytes += static_cast<std::int64_t>(item->size);
    entry.put(Family::items, key, each.value);
  }
  if (total.count > 0) entry.statistics.push_back(std::move(total));
  return {};
}

}  // namespace

RestoreRunner::~RestoreRunner() {
  if (job_) static_cast<void>(settle());
}

store::Answer<bool> RestoreRunner::run_once() {
  if (!job_) {
    auto job = next_job();
    if (!job) return base::propagate(job.error());
    job_ = *std::move(job);
    if (!job_) return false;
  }
  const store::Answer<bool> more = run_job();
  if (!more || !*more) {
    static_cast<void>(settle());
    job_.reset();  // after a failure it begins anew, behind what is on disk
  }
  TRY_VOID(more);
  return true;
}

base::Result<std::optional<RestoreRunner::Job>> RestoreRunner::next_job() const {
  // Who asked for a restore has the mutex until that is on disk: so is all that was committed before.
  const std::lock_guard control(core_.control_mutex);
  const CatalogStatePointer state = core_.catalog->state();
  std::optional<Unfinished> found = first_unfinished(*state);
  if (!found) return std::nullopt;
  Job job{std::move(found->table), std::move(found->backup), nullptr, {}};
  const Restore& restore = *job.table->restore;
  TRY(const auto reached, core_.database->get(Family::meta, restored_key(job.table->id)));
  const std::string after = reached ? id_prefix(restore.source) + reached->ToString() : "";
  job.items =
      std::make_unique<PastItems>(*core_.database, restore.source, restore.end(), after, core_.options.restore_bytes);
  return std::optional<Job>(std::move(job));
}

store::Answer<bool> RestoreRunner::run_job() {
  // The source is kept as long as a restore needs it. But a store can have been repaired.
  if (!has_source(*core_.catalog->state(), *job_->table->restore))
    return give_up("what it is made of is gone, or has no records any more");
  for (int count = 0; count < portions_per_round; ++count) {
    const base::Result<bool> more = run_portion();
    if (!more && more.error().code == base::ErrorCode::corrupt) return give_up(more.error().message);
    TRY_VOID(more);
    if (!*more) return finish();
  }
  return true;
}

// The next portion is read while this one is written.
base::Result<bool> RestoreRunner::run_portion() {
  const Table& table = *job_->table;
  TRY(const PastItems::Portion portion, job_->items->next());
  if (!portion.reached) return !portion.is_last;
  auto entry = std::make_shared<CommitEntry>();
  TRY_VOID(plan_items(table, job_->backup.has_value(), portion.items, *entry));
  entry->put(Family::meta, restored_key(table.id), portion.reached->substr(object_id_size));
  TRY_VOID(settle());
  auto written = std::make_shared<std::promise<base::Result<void>>>();
  job_->under_way = written->get_future();
  entry->done = [written](const base::Result<void>& outcome) { written->set_value(outcome); };
  core_.queue->enqueue(entry);
  return !portion.is_last;
}

base::Result<void> RestoreRunner::settle() {
  if (!job_->under_way.valid()) return {};
  return job_->under_way.get();
}

store::Answer<bool> RestoreRunner::finish() {
  TRY_VOID(settle());
  const std::lock_guard control(core_.control_mutex);
  TRY_VOID(core_.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    entry.remove(Family::meta, restored_key(job_->table->id));
    if (job_->backup) {
      Backup backup = *state.backups.at(*job_->backup);
      backup.table.restore.reset();
      put_backup(state, entry, std::move(backup));
      stop_recording(*job_->table->restore, state, entry);
    } else {
      Table table = *state.tables.at(job_->table->name);
      table.restore.reset();
      put_table(state, entry, std::move(table));
    }
    return {};
  }));
  return false;
}

// What cannot be made whole goes: a table that is there has everything.
store::Answer<bool> RestoreRunner::give_up(const std::string& reason) {
  const Table& table = *job_->table;
  base::log_error("restore",
                  job_->backup ? "backup " + *job_->backup + " of table " + table.name + " could not be made"
                               : "table " + table.name + " could not be restored and is removed",
                  {{"reason", reason}});
  static_cast<void>(settle());
  const std::lock_guard control(core_.control_mutex);
  TRY_VOID(core_.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    if (job_->backup) {
      remove_backup(state, entry, *BackupPointer(state.backups.at(*job_->backup)));
      stop_recording(*table.restore, state, entry);
    } else {
      erase_table(core_, table, state, entry);
    }
    return {};
  }));
  return false;
}

}  // namespace postino::engine
