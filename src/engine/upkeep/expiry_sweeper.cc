#include "engine/upkeep/expiry_sweeper.h"

#include "base/bytes.h"
#include "engine/items/locked_items.h"

namespace postino::engine {

namespace {

constexpr std::size_t entries_per_round = 200;
constexpr std::size_t entries_per_turn = 20;  // of one table, and in one commit

// Removed entries stay in the way of later passes until they are compacted.
constexpr std::size_t removals_worth_compacting = 50'000;

constexpr base::Milliseconds kept_for = std::chrono::hours(1);

bool is_swept(const Table& table) { return table.time_to_live && !table.time_to_live->backfill; }

// Entries of this second and before.
std::string due_end(const Table& table, base::TimePoint now) {
  std::string key = id_prefix(table.id);
  base::append_big_endian(key, base::epoch_seconds(now) + 1);
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
    const auto kept = kept_.find(table->id);
    passes_.push_back({table, kept == kept_.end() ? id_prefix(table->id) : kept->second.after, ""});
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
  TRY(const std::vector<ExpiryEntry> due, collect(pass, entries_per_turn));
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

base::Result<std::vector<ExpiryEntry>> ExpirySweeper::collect(Pass& pass, std::size_t limit) const {
  const std::string end = due_end(*pass.table, core_.now());
  const rocksdb::Slice lower(pass.next);
  const rocksdb::Slice upper(end);
  std::vector<ExpiryEntry> due;
  std::string last;
  const auto entries = core_.database->iterate(Family::expiry, lower, upper);
  for (entries->SeekToFirst(); entries->Valid() && due.size() < limit; entries->Next()) {
    due.push_back(parse_expiry_key(entries->key().ToStringView()));
    last = entries->key().ToString();
  }
  if (!entries->status().ok()) return base::propagate(error_from(entries->status()));
  if (!due.empty()) pass.next = last + '\0';
  return due;
}

base::Result<ExpirySweeper::Planned> ExpirySweeper::plan(const Table& seen, const std::vector<ExpiryEntry>& due) {
  std::vector<std::string> keys;
  for (const ExpiryEntry& expiry : due) keys.push_back(expiry.stored_item_key);
  LockedItems items(core_);
  items.lock(keys);
  const TablePointer table = core_.catalog->find(seen.name);
  Planned planned;
  planned.is_table_gone = !table || table->id != seen.id || !is_swept(*table);
  if (planned.is_table_gone) return planned;

  const base::TimePoint now = core_.now();
  auto entry = std::make_shared<CommitEntry>();
  for (const ExpiryEntry& expiry : due) {
    TRY(StoredItemPointer item, items.read(expiry.stored_item_key));
    // The item may have been given another time since, or be gone; then only the entry goes.
    if (!item || expiry_second(*table, item->item, now) != expiry.second) {
      entry->remove(Family::expiry, expiry_key(table->id, expiry.second, expiry.stored_item_key));
    } else if (guard_ && !guard_(table->name, item->item)) {
      planned.keeps_some = true;
    } else {
      items.plan(*table, {expiry.stored_item_key, std::move(item), nullptr}, *entry, Origin::time_to_live);
    }
  }
  if (items.queue(entry)) planned.entry = std::move(entry);
  return planned;
}

void ExpirySweeper::finish(const Pass& pass) {
  const Table& table = *pass.table;
  if (!pass.after_kept.empty()) kept_[table.id] = {pass.after_kept, core_.options.clock->monotonic() + kept_for};
  const auto removed = removed_.find(table.id);
  if (removed == removed_.end() || removed->second < removals_worth_compacting) return;
  removed_.erase(removed);
  core_.database->compact(Family::expiry, id_prefix(table.id), due_end(table, core_.now()));
}

}  // namespace postino::engine
