#include "engine/upkeep/expiry_sweeper.h"

#include "base/bytes.h"
#include "engine/items/locked_items.h"

namespace postino::engine {

namespace {

constexpr std::size_t entries_per_round = 200;
constexpr std::size_t entries_per_turn = 20;  // of one table, and in one commit

// Removed entries stay in the way of later passes until they are compacted.
constexpr std::size_t removals_worth_compacting = 50'000;

bool is_swept(const Table& table) { return table.time_to_live && !table.time_to_live->backfill; }

// Entries of this second and before.
std::string due_end(const Table& table, base::TimePoint now) {
  std::string key = id_prefix(table.id);
  base::append_big_endian(key, base::epoch_seconds(now) + 1);
  return key;
}

}  // namespace

store::Answer<bool> ExpirySweeper::run_once() {
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
  for (const auto& [name, table] : state->tables)
    if (is_swept(*table)) passes_.push_back({table, id_prefix(table->id)});
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
    finish(*pass.table);
    return std::size_t{0};
  }
  TRY(auto entry, plan(*pass.table, due));
  if (!entry) return std::size_t{0};
  queued.push_back(std::move(entry));
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

base::Result<std::shared_ptr<CommitEntry>> ExpirySweeper::plan(const Table& seen, const std::vector<ExpiryEntry>& due) {
  std::vector<std::string> keys;
  for (const ExpiryEntry& expiry : due) keys.push_back(expiry.stored_item_key);
  LockedItems items(core_);
  items.lock(keys);
  const TablePointer table = core_.catalog->find(seen.name);
  if (!table || table->id != seen.id || !is_swept(*table)) return nullptr;

  const base::TimePoint now = core_.now();
  auto entry = std::make_shared<CommitEntry>();
  for (const ExpiryEntry& expiry : due) {
    TRY(StoredItemPointer item, items.read(expiry.stored_item_key));
    // The item may have been given another time since, or be gone; then only the entry goes.
    if (item && expiry_second(*table, item->item, now) == expiry.second)
      items.plan(*table, {expiry.stored_item_key, std::move(item), nullptr}, *entry, Origin::time_to_live);
    else
      entry->remove(Family::expiry, expiry_key(table->id, expiry.second, expiry.stored_item_key));
  }
  items.queue(entry);
  return entry;
}

void ExpirySweeper::finish(const Table& table) {
  const auto removed = removed_.find(table.id);
  if (removed == removed_.end() || removed->second < removals_worth_compacting) return;
  removed_.erase(removed);
  core_.database->compact(Family::expiry, id_prefix(table.id), due_end(table, core_.now()));
}

}  // namespace postino::engine
