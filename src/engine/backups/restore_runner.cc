#include "engine/backups/restore_runner.h"

#include <algorithm>

#include "base/log.h"
#include "engine/items/change.h"
#include "engine/tables/table_transition.h"

namespace postino::engine {

namespace {

constexpr int portions_per_round = 16;

const Table* find_source(const CatalogState& state, const Restore& restore) {
  for (const auto& [name, table] : state.tables)
    if (table->id == restore.source && table->recovery) return table.get();
  return nullptr;
}

// The same item of another table.
std::string key_in(ObjectId table, std::string_view stored_key) {
  std::string key = id_prefix(table);
  key.append(stored_key.substr(object_id_size));
  return key;
}

base::Result<void> plan_items(const Table& table, const std::vector<PastItems::Item>& items, CommitEntry& entry) {
  StatisticsDelta total{table.id, table.statistics, 0, 0};
  for (const PastItems::Item& each : items) {
    const std::string key = key_in(table.id, each.key);
    TRY(const StoredItemPointer item, load_item(each.value));
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
  const auto found =
      std::ranges::find_if(state->tables, [](const auto& each) { return each.second->restore.has_value(); });
  if (found == state->tables.end()) return std::nullopt;
  Job job{found->second, nullptr, {}};
  const Restore& restore = *job.table->restore;
  TRY(const auto reached, core_.database->get(Family::meta, restored_key(job.table->id)));
  const std::string after = reached ? id_prefix(restore.source) + reached->ToString() : "";
  job.items = std::make_unique<PastItems>(*core_.database, restore.source, base::epoch_seconds(restore.time), after,
                                          core_.options.restore_bytes);
  return std::optional<Job>(std::move(job));
}

store::Answer<bool> RestoreRunner::run_job() {
  // The source is kept as long as a restore needs it. But a store can have been repaired.
  const bool has_source = find_source(*core_.catalog->state(), *job_->table->restore) != nullptr;
  if (!has_source) return give_up("what it is made of has no point-in-time recovery any more");
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
  TRY_VOID(plan_items(table, portion.items, *entry));
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
    Table table = *state.tables.at(job_->table->name);
    table.restore.reset();
    entry.remove(Family::meta, restored_key(table.id));
    put_table(state, entry, std::move(table));
    return {};
  }));
  return false;
}

// What cannot be made whole goes: a table that is there has everything.
store::Answer<bool> RestoreRunner::give_up(const std::string& reason) {
  const Table& table = *job_->table;
  base::log_error("restore", "table " + table.name + " could not be restored and is removed", {{"reason", reason}});
  static_cast<void>(settle());
  const std::lock_guard control(core_.control_mutex);
  TRY_VOID(core_.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    erase_table(core_, table, state, entry);
    return {};
  }));
  return false;
}

}  // namespace postino::engine
