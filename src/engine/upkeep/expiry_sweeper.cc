#include "engine/upkeep/expiry_sweeper.h"

#include <set>

#include "base/bytes.h"
#include "engine/items/expiry_group.h"
#include "engine/items/locked_items.h"

namespace postino::engine {

namespace {

constexpr std::size_t entries_per_round = 200;
constexpr std::size_t entries_per_turn = 20;  // of one table, and in one commit

// Removed entries stay in the way of later passes until they are compacted.
constexpr std::size_t removals_worth_compacting = 50'000;

constexpr base::Milliseconds kept_for = std::chrono::hours(1);

bool is_swept(const Table& table) { return table.time_to_live && !table.time_to_live->backfill; }

std::string first_entry(const Table& table, bool of_groups) {
  return of_groups ? first_expiry_group(table.id, 0) : id_prefix(table.id);
}

// Entries of this second and before.
std::string due_end(const Table& table, bool of_groups, base::TimePoint now) {
  const std::int64_t next = base::epoch_seconds(now) + 1;
  if (of_groups) return first_expiry_group(table.id, next);
  std::string key = id_prefix(table.id);
  base::append_big_endian(key, next);
  return key;
}

}  // namespace

store::Answer<bool> ExpirySweeper::run_once() {
  if (core_.options.expiry_needs_guard && !guard_) return false;
  if (passes_.empty()) start_passes();
  std::vector<std::shared_ptr<CommitEntry>> queued;
  const base::Result<void> swept = sweep(queued);
  base::Result<void> committed;
  for (const auto& entry : queued)
    if (base::Result<void> outcome = core_.queue->wait(entry); !outcome) committed = outcome;
  if (!committed) passes_.clear();  // what was not written is to be met again
  TRY_VOID(committed);
  TRY_VOID(swept);
  return !passes_.empty() && core_.queue->has_room();
}

void ExpirySweeper::start_passes() {
  const CatalogStatePointer state = core_.catalog->state();
  std::erase_if(kept_, [&](const auto& kept) { return kept.second.until <= core_.options.clock->monotonic(); });
  for (const auto& [name, table] : state->tables) {
    if (!is_swept(*table)) continue;
    for (const bool of_groups : {false, true}) {
      const auto kept = kept_.find({table->id, of_groups});
      passes_.push_back(
          {table, of_groups, kept == kept_.end() ? first_entry(*table, of_groups) : kept->second.after, ""});
    }
  }
}

base::Result<void> ExpirySweeper::sweep(std::vector<std::shared_ptr<CommitEntry>>& queued) {
  base::Result<void> swept;  // a damaged item must not keep other tables from being swept
  for (std::size_t looked_at = 0; looked_at < entries_per_round && !passes_.empty() && core_.queue->has_room();) {
    Pass pass = std::move(passes_.front());
    passes_.pop_front();
    const base::Result<std::size_t> turn = take_turn(pass, queued);
    if (!turn)
      swept = base::propagate(turn.error());
    else if (*turn > 0)
      passes_.push_back(std::move(pass));
    looked_at += turn.value_or(0);
  }
  return swept;
}

base::Result<std::size_t> ExpirySweeper::take_turn(Pass& pass, std::vector<std::shared_ptr<CommitEntry>>& queued) {
  TRY(const std::vector<Due> due, collect(pass, entries_per_turn));
  if (due.empty()) {
    finish(pass);
    return std::size_t{0};
  }
  TRY(Planned planned, plan(*pass.table, due));
  if (planned.is_table_gone) return std::size_t{0};
  if (planned.keeps_some) pass.after_kept = pass.next;
  if (planned.entry) queued.push_back(std::move(planned.entry));
  removed_[pass.table->id] += due.size();
  return due.size();
}

base::Result<std::vector<ExpirySweeper::Due>> ExpirySweeper::collect(Pass& pass, std::size_t limit) const {
  const std::string end = due_end(*pass.table, pass.of_groups, core_.now());
  const rocksdb::Slice lower(pass.next);
  const rocksdb::Slice upper(end);
  std::vector<Due> due;
  const auto entries = core_.database->iterate(Family::expiry, lower, upper);
  for (entries->SeekToFirst(); entries->Valid() && due.size() < limit; entries->Next()) {
    const std::string_view key = entries->key().ToStringView();
    if (pass.of_groups) {
      TRY(ExpiryGroup group, parse_expiry_group(key, entries->value().ToStringView()));
      due.push_back({std::string(key), group.second, std::move(group.stored_item_keys)});
    } else {
      ExpiryEntry entry = parse_expiry_key(key);
      due.push_back({std::string(key), entry.second, {std::move(entry.stored_item_key)}});
    }
  }
  if (!entries->status().ok()) return base::propagate(error_from(entries->status()));
  if (!due.empty()) pass.next = due.back().key + '\0';
  return due;
}

base::Result<ExpirySweeper::Planned> ExpirySweeper::plan(const Table& seen, const std::vector<Due>& due) {
  std::vector<std::string> keys;
  for (const Due& each : due) keys.insert(keys.end(), each.stored_item_keys.begin(), each.stored_item_keys.end());
  LockedItems items(core_);
  items.lock(keys);
  const TablePointer table = core_.catalog->find(seen.name);
  Planned planned;
  planned.is_table_gone = !table || table->id != seen.id || !is_swept(*table);
  if (planned.is_table_gone) return planned;

  const base::TimePoint now = core_.now();
  auto entry = std::make_shared<CommitEntry>();
  std::set<std::string_view> deleted;  // an item that was made again may be in two groups
  for (const Due& each : due) {
    bool is_needed = false;
    for (const std::string& key : each.stored_item_keys) {
      if (deleted.contains(key)) continue;
      TRY(StoredItemPointer item, items.read(key));
      // The item may have been given another time since, or be gone; then only the entry goes.
      if (!item || expiry_second(*table, item->item, now) != each.second) continue;
      if (guard_ && !guard_(table->name, item->item)) {
        is_needed = true;
        continue;
      }
      deleted.insert(key);
      items.plan(*table, {key, std::move(item), nullptr}, *entry, Origin::time_to_live);
    }
    planned.keeps_some |= is_needed;
    const bool went_with_item = !is_expiry_group(each.key) && deleted.contains(each.stored_item_keys.front());
    if (!is_needed && !went_with_item) entry->remove(Family::expiry, each.key);
  }
  if (items.queue(entry)) planned.entry = std::move(entry);
  return planned;
}

void ExpirySweeper::finish(const Pass& pass) {
  const Table& table = *pass.table;
  if (!pass.after_kept.empty())
    kept_[{table.id, pass.of_groups}] = {pass.after_kept, core_.options.clock->monotonic() + kept_for};
  const auto removed = removed_.find(table.id);
  if (removed == removed_.end() || removed->second < removals_worth_compacting) return;
  removed_.erase(removed);
  for (const bool of_groups : {false, true})
    core_.database->compact(Family::expiry, first_entry(table, of_groups), due_end(table, of_groups, core_.now()));
}

}  // namespace postino::engine
