#include "engine/catalog/core.h"

#include <algorithm>

#include "engine/catalog/catalog_keys.h"
#include "engine/storage/store_files.h"

namespace postino::engine {

namespace {

// Earlier versions kept point-in-time recovery as a setting alone: its records begin now.
base::Result<void> begin_recovery(Core& core) {
  const CatalogStatePointer before = core.catalog->state();
  CatalogState after = *before;
  CommitEntry entry;
  for (const auto& [name, table] : before->tables) {
    if (!table->recovery || table->recovery->enabled_at != base::TimePoint()) continue;
    Table begun = *table;
    begun.recovery->enabled_at = core.now();
    put_table(after, entry, std::move(begun));
  }
  if (entry.mutations.empty()) return {};
  rocksdb::WriteBatch batch;
  for (const Mutation& mutation : entry.mutations)
    batch.Put(core.database->handle(mutation.family), mutation.key, mutation.value);
  TRY_VOID(core.database->write_into_reserve(batch));
  core.catalog->publish(std::move(after));
  return {};
}

// No commit with an undo record was later than this.
base::Result<base::TimePoint> last_commit_time(const Database& database, const CatalogState& state) {
  base::TimePoint last;
  for (const auto& [name, table] : state.tables) {
    if (!table->keeps_undo_records()) continue;
    if (table->recovery) last = std::max(last, table->recovery->enabled_at);
    const std::string first = id_prefix(table->id);
    const std::string end = id_prefix(table->id + 1);
    const rocksdb::Slice lower(first);
    const rocksdb::Slice upper(end);
    const auto records = database.iterate(Family::undo, lower, upper);
    records->SeekToLast();
    if (!records->status().ok()) return base::propagate(error_from(records->status()));
    const auto place = records->Valid() ? parse_undo_key(records->key().ToStringView()) : std::nullopt;
    if (place) last = std::max(last, base::from_epoch_milliseconds(place->time));
  }
  return last;
}

}  // namespace

base::Result<std::unique_ptr<Core>> open_core(Options options, rocksdb::Env* env) {
  auto core = std::make_unique<Core>();
  core->options = std::move(options);
  TRY(core->database, Database::open(core->options, env));
  auto catalog = Catalog::load(*core->database);
  if (!catalog && catalog.error().code == base::ErrorCode::corrupt)
    return base::propagate(damage_error(core->options.directory, catalog.error().message,
                                        "It was opened and closed again; no record in it was changed"));
  TRY(core->catalog, std::move(catalog));
  TRY_VOID(begin_recovery(*core));
  TRY(const base::TimePoint last_time, last_commit_time(*core->database, *core->catalog->state()));
  // Every opening starts above all numbers that an earlier one can have given out.
  core->queue = std::make_unique<CommitQueue>(*core->database, core->locks, core->options,
                                              core->catalog->opening_number() << numbers_per_opening_bits, last_time);
  // The time that a table is restored to, or a backup is made of, stays over.
  for (const auto& [name, table] : core->catalog->state()->tables)
    if (table->restore) core->queue->begin_time(table->restore->end());
  for (const auto& [id, backup] : core->catalog->state()->backups)
    if (backup->is_being_made()) core->queue->begin_time(backup->table.restore->end());
  return core;
}

base::Result<StoredItemPointer> Core::read_latest(const std::string& stored_key, bool& depends_on_pending) const {
  if (const PendingItem* pending = locks.find_pending(stored_key)) {
    depends_on_pending = true;
    return pending->item;
  }
  TRY(const auto bytes, database->get(Family::items, stored_key));
  if (!bytes) return StoredItemPointer();
  return load_item(bytes->ToStringView());
}

store::Answer<void> Core::change_catalog(
    const std::function<store::Answer<void>(CatalogState&, CommitEntry&)>& change) {
  const CatalogStatePointer before = catalog->state();
  const auto entry = std::make_shared<CommitEntry>();
  {
    CatalogState after = *before;
    const KeyLocks::Guard guard = locks.lock_all();
    TRY_VOID(change(after, *entry));
    entry->undo = [&] { catalog->publish(*before); };
    queue->enqueue(entry);
    catalog->publish(std::move(after));
  }
  TRY_VOID(queue->wait(entry));
  // Subscribers of a stream that ended must learn of it.
  queue->stream_signal().announce();
  return {};
}

std::string Core::table_arn(std::string_view table_name) const {
  return "arn:aws:dynamodb:" + options.region + ":" + options.account + ":table/" + std::string(table_name);
}

std::string Core::index_arn(std::string_view table_name, std::string_view index_name) const {
  return table_arn(table_name) + "/index/" + std::string(index_name);
}

std::string Core::stream_arn(const Stream& stream) const {
  return table_arn(stream.table_name) + "/stream/" + stream.label;
}

std::string Core::backup_arn(std::string_view table_name, std::string_view backup_id) const {
  return table_arn(table_name) + "/backup/" + std::string(backup_id);
}

store::Error no_such_table() { return {store::ErrorType::resource_not_found, "Requested resource not found"}; }

store::Error no_such_table(std::string_view table_name) {
  return {store::ErrorType::resource_not_found,
          "Requested resource not found: Table: " + std::string(table_name) + " not found"};
}

}  // namespace postino::engine
