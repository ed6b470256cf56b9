#include "engine/catalog/catalog.h"

#include <algorithm>
#include <limits>

#include "base/bytes.h"
#include "engine/catalog/catalog_keys.h"
#include "engine/catalog/catalog_record.h"
#include "engine/storage/keys.h"
#include "engine/storage/statistics.h"

namespace postino::engine {

namespace {

std::string table_key(const Table& table) { return std::string(table_prefix) + table.name; }

std::string stream_record_key(const Stream& stream) {
  std::string key(stream_prefix);
  base::append_big_endian(key, stream.id);
  return key;
}

std::string backup_key(const std::string& id) { return std::string(backup_prefix) + id; }

std::string encode_counter(std::uint64_t value) {
  std::string bytes;
  base::append_big_endian(bytes, value);
  return bytes;
}

base::Result<std::uint64_t> read_counter(const Database& database, std::string_view key, std::uint64_t initial) {
  TRY(const auto value, database.get(Family::meta, key));
  if (!value) return initial;
  if (value->size() != sizeof(std::uint64_t))
    return base::fail(base::ErrorCode::corrupt, "a counter of the catalog is damaged");
  return base::load_big_endian<std::uint64_t>(value->data());
}

base::Result<void> read_statistics(const Database& database, ObjectId id, Statistics& statistics) {
  TRY(const auto value, database.get(Family::meta, statistics_key(id)));
  if (value) load_statistics(statistics, value->ToStringView());
  return {};
}

base::Result<void> load_tables(const Database& database, CatalogState& state) {
  const rocksdb::Slice lower(table_prefix.data(), table_prefix.size());
  const rocksdb::Slice upper(table_end.data(), table_end.size());
  const auto records = database.iterate(Family::meta, lower, upper);
  for (records->SeekToFirst(); records->Valid(); records->Next()) {
    TRY(Table table, decode_table(records->value().ToStringView()));
    TRY_VOID(read_statistics(database, table.id, *table.statistics));
    for (const Index& index : table.indexes) TRY_VOID(read_statistics(database, index.id, *index.statistics));
    std::string name = table.name;
    state.tables.emplace(std::move(name), std::make_shared<const Table>(std::move(table)));
  }
  if (!records->status().ok()) return base::propagate(error_from(records->status()));
  return {};
}

base::Result<void> load_streams(const Database& database, CatalogState& state) {
  const rocksdb::Slice lower(stream_prefix.data(), stream_prefix.size());
  const rocksdb::Slice upper(stream_end.data(), stream_end.size());
  const auto records = database.iterate(Family::meta, lower, upper);
  for (records->SeekToFirst(); records->Valid(); records->Next()) {
    TRY(Stream stream, decode_stream(records->value().ToStringView()));
    const ObjectId id = stream.id;
    state.streams.emplace(id, std::make_shared<const Stream>(std::move(stream)));
  }
  if (!records->status().ok()) return base::propagate(error_from(records->status()));
  return {};
}

base::Result<void> load_backups(const Database& database, CatalogState& state) {
  const rocksdb::Slice lower(backup_prefix.data(), backup_prefix.size());
  const rocksdb::Slice upper(backup_end.data(), backup_end.size());
  const auto records = database.iterate(Family::meta, lower, upper);
  for (records->SeekToFirst(); records->Valid(); records->Next()) {
    TRY(Backup backup, decode_backup(records->value().ToStringView()));
    TRY_VOID(read_statistics(database, backup.table.id, *backup.table.statistics));
    std::string id = backup.id;
    state.backups.emplace(std::move(id), std::make_shared<const Backup>(std::move(backup)));
  }
  if (!records->status().ok()) return base::propagate(error_from(records->status()));
  return {};
}

std::int64_t first_due(const CatalogState& state) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const auto& [name, table] : state.tables)
    if (table->transition) first = std::min(first, base::epoch_milliseconds(table->transition->due));
  return first;
}

bool any_policies(const CatalogState& state) {
  return std::ranges::any_of(state.tables, [](const auto& each) { return each.second->policy != nullptr; }) ||
         std::ranges::any_of(state.streams, [](const auto& each) { return each.second->policy != nullptr; });
}

std::uint64_t next_identity() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

// What this thread saw last. The state it holds stays valid however the catalog moves on.
struct ThreadCache {
  std::uint64_t identity = 0;
  std::uint64_t version = 0;
  CatalogStatePointer state;
  // The tables this thread asked for, by their own names. The pointers have use counts of this thread's own: one count
  // for all threads would travel from core to core with every request.
  std::map<std::string_view, TablePointer> tables;
};
thread_local ThreadCache thread_cache;

TablePointer counted_apart(const TablePointer& table) {
  return {table.get(), [table](const Table*) {}};
}

}  // namespace

Catalog::Catalog() : identity_(next_identity()) {}

base::Result<std::unique_ptr<Catalog>> Catalog::load(Database& database) {
  std::unique_ptr<Catalog> catalog(new Catalog);
  TRY(const std::uint64_t next_id, read_counter(database, next_id_key, 1));
  catalog->next_id_ = static_cast<ObjectId>(next_id);
  TRY(const std::uint64_t openings, read_counter(database, openings_key, 0));
  catalog->opening_number_ = openings + 1;
  CatalogState state;
  TRY_VOID(load_tables(database, state));
  TRY_VOID(load_streams(database, state));
  TRY_VOID(load_backups(database, state));
  rocksdb::WriteBatch batch;
  batch.Put(database.handle(Family::meta), openings_key, encode_counter(catalog->opening_number_));
  TRY_VOID(database.write_into_reserve(batch));
  catalog->next_due_ = first_due(state);
  catalog->has_policies_ = any_policies(state);
  catalog->state_ = std::make_shared<const CatalogState>(std::move(state));
  return catalog;
}

const CatalogStatePointer& Catalog::refreshed_state() const {
  const std::uint64_t version = version_.load(std::memory_order_acquire);
  if (thread_cache.identity != identity_ || thread_cache.version != version) {
    std::lock_guard lock(mutex_);
    thread_cache = {identity_, version_.load(std::memory_order_relaxed), state_, {}};
  }
  return thread_cache.state;
}

CatalogStatePointer Catalog::state() const { return refreshed_state(); }

TablePointer Catalog::find(std::string_view table_name) const {
  const CatalogState& current = *refreshed_state();
  auto known = thread_cache.tables.find(table_name);
  if (known == thread_cache.tables.end()) {
    const auto found = current.tables.find(table_name);
    if (found == current.tables.end()) return nullptr;
    known = thread_cache.tables.emplace(found->second->name, counted_apart(found->second)).first;
  }
  return known->second;
}

void Catalog::publish(CatalogState state) {
  auto next = std::make_shared<const CatalogState>(std::move(state));
  std::lock_guard lock(mutex_);
  next_due_ = first_due(*next);
  has_policies_ = any_policies(*next);
  state_ = std::move(next);
  version_.fetch_add(1, std::memory_order_release);
}

ObjectId Catalog::take_id(CommitEntry& entry) {
  const ObjectId id = next_id_++;
  entry.put(Family::meta, std::string(next_id_key), encode_counter(next_id_));
  return id;
}

TablePointer filled_from(const CatalogState& state, ObjectId source) {
  const auto is_filled = [&](const Table& table) { return table.restore && table.restore->source == source; };
  for (const auto& [name, table] : state.tables)
    if (is_filled(*table)) return table;
  for (const auto& [id, backup] : state.backups)
    if (is_filled(backup->table)) return {backup, &backup->table};
  return nullptr;
}

std::string restored_key(ObjectId table) {
  std::string key(restored_prefix);
  base::append_big_endian(key, table);
  return key;
}

void put_table(CatalogState& state, CommitEntry& entry, Table table) {
  entry.put(Family::meta, table_key(table), encode_table(table));
  auto put = std::make_shared<const Table>(std::move(table));
  state.tables[put->name] = put;
}

void put_backup(CatalogState& state, CommitEntry& entry, Backup backup) {
  entry.put(Family::meta, backup_key(backup.id), encode_backup(backup));
  auto put = std::make_shared<const Backup>(std::move(backup));
  state.backups[put->id] = put;
}

void remove_backup(CatalogState& state, CommitEntry& entry, const Backup& backup) {
  const ObjectId image = backup.table.id;
  entry.remove(Family::meta, backup_key(backup.id));
  entry.remove(Family::meta, statistics_key(image));
  entry.remove_range(Family::items, id_prefix(image), id_prefix(image + 1));
  if (backup.is_being_made()) entry.remove(Family::meta, restored_key(image));
  state.backups.erase(std::string(backup.id));
}

void remove_table(CommitEntry& entry, const Table& table) {
  remove_all_but_items(entry, table);
  entry.remove(Family::meta, statistics_key(table.id));
  entry.remove_range(Family::items, id_prefix(table.id), id_prefix(table.id + 1));
}

void remove_all_but_items(CommitEntry& entry, const Table& table) {
  entry.remove(Family::meta, table_key(table));
  entry.remove_range(Family::expiry, id_prefix(table.id), id_prefix(table.id + 1));
  if (table.keeps_undo_records()) entry.remove_range(Family::undo, id_prefix(table.id), id_prefix(table.id + 1));
  if (table.restore) entry.remove(Family::meta, restored_key(table.id));
  for (const Index& index : table.indexes) remove_index(entry, index);
}

void remove_index(CommitEntry& entry, const Index& index) {
  entry.remove(Family::meta, statistics_key(index.id));
  entry.remove_range(Family::indexes, id_prefix(index.id), id_prefix(index.id + 1));
}

void put_stream(CommitEntry& entry, const Stream& stream) {
  entry.put(Family::meta, stream_record_key(stream), encode_stream(stream));
}

void remove_stream(CommitEntry& entry, const Stream& stream) {
  entry.remove(Family::meta, stream_record_key(stream));
  entry.remove_range(Family::streams, id_prefix(stream.id), id_prefix(stream.id + 1));
}

}  // namespace postino::engine
