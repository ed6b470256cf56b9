#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/bytes.h"
#include "base/hash.h"
#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_keys.h"
#include "engine/catalog/catalog_record.h"
#include "engine/items/change.h"
#include "engine/items/transaction_tokens.h"
#include "engine/recovery/key_search.h"
#include "engine/recovery/salvage.h"
#include "engine/recovery/sound_item.h"
#include "engine/streams/stream_record.h"
#include "engine/tables/table_definition.h"
#include "store/table_setup.h"

namespace postino::engine {

namespace {

constexpr std::size_t rebuild_batch_bytes = 4 << 20;

class ContentsRebuild {
 public:
  ContentsRebuild(Database& database, const std::vector<store::TableSetup>& known, base::TimePoint now, Findings& lost)
      : database_(database), known_(known), now_(now), lost_(lost) {}

  base::Result<void> run() {
    TRY_VOID(read_streams());
    TRY_VOID(read_tables());
    TRY_VOID(read_backups());
    TRY_VOID(remove_counts());
    TRY_VOID(find_lost_tables());
    for (const auto& [id, table] : tables_) TRY_VOID(rebuild_table(table));
    for (Backup& backup : backups_) TRY_VOID(rebuild_image(backup));
    TRY_VOID(check_stream_records());
    TRY_VOID(check_tokens());
    TRY_VOID(check_undo_records());
    if (!lost_.empty()) begin_recovery_anew();
    TRY_VOID(write_counters());
    return write(true);
  }

 private:
  template <class Each>
  base::Result<void> walk(Family family, std::string_view lower, std::string_view upper, const Each& each) {
    const rocksdb::Slice first(lower.data(), lower.size());
    const rocksdb::Slice end(upper.data(), upper.size());
    const auto entries = database_.iterate(family, first, end);
    for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
      each(entries->key().ToString(), entries->value().ToStringView());
      TRY_VOID(write(false));
    }
    if (!entries->status().ok()) return base::propagate(error_from(entries->status()));
    return {};
  }
  template <class Each>
  base::Result<void> walk_all(Family family, const Each& each) {
    return walk(family, "", std::string(16, '\xFF'), each);
  }

  base::Result<void> write(bool all) {
    if (batch_.Count() == 0 || (!all && batch_.GetDataSize() < rebuild_batch_bytes)) return {};
    TRY_VOID(database_.write(batch_));
    batch_.Clear();
    return {};
  }
  void remove(Family family, const std::string& key) { batch_.Delete(database_.handle(family), key); }
  void put(Family family, std::string_view key, const std::string& value) {
    batch_.Put(database_.handle(family), rocksdb::Slice(key.data(), key.size()), value);
  }

  base::Result<void> read_streams() {
    return walk(Family::meta, stream_prefix, stream_end, [&](const std::string& key, std::string_view value) {
      const auto stream = decode_stream(value);
      if (!stream) {
        lost_.add("a stream: its record cannot be read");
        return remove(Family::meta, key);
      }
      note(stream->id, stream_ids_);
      for (const StreamShard& shard : stream->shards) last_number_ = std::max(last_number_, shard.first);
    });
  }

  base::Result<void> read_tables() {
    return walk(Family::meta, table_prefix, table_end, [&](const std::string& key, std::string_view value) {
      auto table = decode_table(value);
      if (!table || table->name != key.substr(table_prefix.size())) {
        lost_.add("table " + key.substr(table_prefix.size()) + ": its record cannot be read");
        return remove(Family::meta, key);
      }
      note(table->id, table_ids_);
      for (const Index& index : table->indexes) last_id_ = std::max(last_id_, index.id);
      if (table->stream && !stream_ids_.contains(table->stream->id)) {
        lost_.add("table " + table->name + ": its stream, which must be enabled again");
        table->stream.reset();
        put(Family::meta, key, encode_table(*table));
      }
      tables_.emplace(table->id, *std::move(table));
    });
  }

  base::Result<void> read_backups() {
    return walk(Family::meta, backup_prefix, backup_end, [&](const std::string& key, std::string_view value) {
      auto backup = decode_backup(value);
      if (!backup || backup->id != key.substr(backup_prefix.size())) {
        lost_.add("backup " + key.substr(backup_prefix.size()) + ": its record cannot be read");
        return remove(Family::meta, key);
      }
      note(backup->table.id, table_ids_);
      if (const auto count = database_.get(Family::meta, statistics_key(backup->table.id)); count && *count)
        load_statistics(*backup->table.statistics, (*count)->ToStringView());
      backups_.push_back(*std::move(backup));
    });
  }

  // Those of tables that are gone must go as well: all are made again.
  base::Result<void> remove_counts() {
    rocksdb::WriteBatch counts;
    counts.DeleteRange(database_.handle(Family::meta), "count/", "count0");
    return database_.write(counts);
  }

  // Items of a table that has no record. Where they show what their key is, they get a table of their own. Other items
  // stay in the damaged store alone.
  base::Result<void> find_lost_tables() {
    std::map<ObjectId, KeySearch> found;
    TRY_VOID(walk_all(Family::items, [&](const std::string& key, std::string_view value) {
      const ObjectId id = id_of(key);
      if (!table_ids_.contains(id)) found.try_emplace(id, id).first->second.add(key, value);
    }));
    for (const auto& [id, search] : found)
      if (id != std::numeric_limits<ObjectId>::max()) last_id_ = std::max(last_id_, id);
    TRY_VOID(raise_above_given_numbers());
    for (const auto& [id, search] : found) {
      if (search.keys().empty() || id == std::numeric_limits<ObjectId>::max())
        lost_.add("table number " + std::to_string(id) + ": its record, and " + counted(search.items(), "item") +
                  " with it");
      else
        add_table_of(id, search);
    }
    TRY_VOID(walk_all(Family::items, [&](const std::string& key, std::string_view) {
      if (!table_ids_.contains(id_of(key))) remove(Family::items, key);
    }));
    return write(true);
  }

  // Behind the last key of a table.
  static std::string end_of(ObjectId id) {
    return id == std::numeric_limits<ObjectId>::max() ? std::string(16, '\xFF') : id_prefix(id + 1);
  }
  static ObjectId id_of(const std::string& key) {
    return key.size() < object_id_size ? 0 : base::load_big_endian<ObjectId>(key.data());
  }

  // Numbers of indexes and streams that are gone are known from the counter alone.
  base::Result<void> raise_above_given_numbers() {
    TRY(const auto stored, database_.get(Family::meta, next_id_key));
    if (!stored || stored->size() != sizeof(std::uint64_t)) return {};
    const auto next = base::load_big_endian<std::uint64_t>(stored->data());
    if (next > last_id_ && next < std::numeric_limits<ObjectId>::max()) last_id_ = static_cast<ObjectId>(next) - 1;
    return {};
  }

  bool has_table(const std::string& name) const {
    return std::ranges::any_of(tables_, [&](const auto& table) { return table.second.name == name; });
  }

  static bool has_keys_of(const Table& table, const store::CreateTableRequest& request) {
    const auto fits = [&](const KeyPart& part, const store::KeyElement& element) {
      return part.name == element.name &&
             std::ranges::any_of(request.attribute_definitions, [&](const store::AttributeDefinition& definition) {
               return definition.name == part.name && definition.type == part.type;
             });
    };
    return request.key_schema.size() == (table.range ? 2 : 1) && fits(table.hash, request.key_schema.front()) &&
           (!table.range || fits(*table.range, request.key_schema.back()));
  }

  // The one known table that is not there and has such a key; nullptr when there are several: it may be any of them.
  const store::TableSetup* known_table_of(const KeySearch& search) const {
    const store::TableSetup* found = nullptr;
    for (const store::TableSetup& setup : known_) {
      if (has_table(setup.request.table_name) ||
          std::ranges::none_of(search.keys(), [&](const Table& key) { return has_keys_of(key, setup.request); }))
        continue;
      if (found != nullptr) return nullptr;
      found = &setup;
    }
    return found;
  }

  void add_table_of(ObjectId id, const KeySearch& search) {
    const std::string items = counted(search.items(), "item");
    if (const store::TableSetup* setup = known_table_of(search)) {
      lost_.add("table " + setup->request.table_name + ": its record, which was made again, so that its " + items +
                (search.items() == 1 ? " is" : " are") + " there; tags and other settings of it");
      return add_table(id, *setup);
    }
    const Table& key = search.keys().front();
    std::string name = "lost-table-" + std::to_string(id);
    while (has_table(name)) name += "-again";
    std::vector<store::AttributeDefinition> parts = {{key.hash.name, key.hash.type}};
    if (key.range) parts.push_back({key.range->name, key.range->type});
    lost_.add("table number " + std::to_string(id) + ": its record, so its name, indexes and settings; its " + items +
              " of the key " + key.hash.name + (key.range ? " and " + key.range->name : "") + " are in the table " +
              name);
    add_table(id, {store::table_request(name, parts), ""});
  }

  void add_table(ObjectId id, const store::TableSetup& setup) {
    Table table = make_table(setup.request, Options(), now_);
    table.id = id;
    note(id, table_ids_);
    if (!setup.expiry.empty()) table.time_to_live = TimeToLive{setup.expiry, std::nullopt};
    // Their entries are made again, so any number that is free will do.
    for (Index& index : table.indexes) index.id = ++last_id_;
    put(Family::meta, std::string(table_prefix) + table.name, encode_table(table));
    tables_.emplace(id, std::move(table));
  }

  void note(ObjectId id, std::set<ObjectId>& ids) {
    ids.insert(id);
    last_id_ = std::max(last_id_, id);
  }

  base::Result<void> rebuild_table(const Table& table) {
    Totals totals;
    totals[table.id];
    for (const Index& index : table.indexes) totals[index.id];
    TRY_VOID(walk(Family::items, id_prefix(table.id), end_of(table.id),
                  [&](const std::string& key, std::string_view value) { rebuild_item(table, key, value, totals); }));
    for (const auto& [id, total] : totals)
      put(Family::meta, statistics_key(id), encode_statistics(total.count, total.bytes));
    return {};
  }

  struct Total {
    std::int64_t count = 0;
    std::int64_t bytes = 0;
  };
  using Totals = std::map<ObjectId, Total>;

  // An image that lacks an item is none.
  base::Result<void> rebuild_image(Backup& backup) {
    Total total;
    TRY_VOID(walk(Family::items, id_prefix(backup.table.id), end_of(backup.table.id),
                  [&](const std::string& key, std::string_view value) {
                    const StoredItemPointer item = read_sound_item(backup.table, key, value);
                    if (!item) return;
                    ++total.count;
                    total.bytes += static_cast<std::int64_t>(item->size);
                  }));
    const bool is_whole =
        total.count == backup.table.statistics->count && total.bytes == backup.table.statistics->bytes;
    if (!backup.is_being_made() && !is_whole) {
      lost_.add("backup " + backup.id + " of table " + backup.table.name + ": it is not whole");
      forget(backup);
      return {};
    }
    put(Family::meta, statistics_key(backup.table.id), encode_statistics(total.count, total.bytes));
    return {};
  }

  void rebuild_item(const Table& table, const std::string& key, std::string_view value, Totals& totals) {
    const StoredItemPointer item = read_sound_item(table, key, value);
    if (!item) {
      lost_.add("table " + table.name + ": the item stored as " + base::to_hex(key) + " cannot be read");
      return remove(Family::items, key);
    }
    CommitEntry entry;
    for (const Index& index : table.indexes)
      if (is_filled(index.backfill, key)) plan_index_entry(index, key, item, entry);
    if (table.time_to_live && is_filled(table.time_to_live->backfill, key))
      plan_expiry_entry(table, key, *item, now_, entry);
    for (const Mutation& mutation : entry.mutations) put(mutation.family, mutation.key, mutation.value);
    for (const StatisticsDelta& delta : entry.statistics) {
      totals[delta.id].count += delta.count;
      totals[delta.id].bytes += delta.bytes;
    }
    ++totals[table.id].count;
    totals[table.id].bytes += static_cast<std::int64_t>(item->size);
  }

  base::Result<void> check_stream_records() {
    std::map<ObjectId, std::uint64_t> gone;
    TRY_VOID(walk_all(Family::streams, [&](const std::string& key, std::string_view value) {
      const bool whole_key = key.size() == object_id_size + sizeof(RecordNumber);
      if (whole_key && stream_ids_.contains(base::load_big_endian<ObjectId>(key.data())) &&
          decode_stream_record(value)) {
        last_number_ = std::max(last_number_, sequence_number_of(key));
        return;
      }
      ++gone[id_of(key)];
      remove(Family::streams, key);
    }));
    for (const auto& [id, count] : gone)
      lost_.add(counted(count, "change record") + " of the stream with number " + std::to_string(id));
    return {};
  }

  // Half a record of a token would be found by one who looks for the other half.
  base::Result<void> check_tokens() {
    std::set<std::string> found;
    TRY_VOID(walk_all(Family::tokens, [&](const std::string& key, std::string_view value) {
      if (key.front() == 't' && value.size() >= sizeof(std::int64_t))
        found.insert(token_expiry_key(
            key.substr(1), base::from_epoch_milliseconds(base::load_big_endian<std::int64_t>(value.data()))));
    }));
    return walk_all(Family::tokens, [&](const std::string& key, std::string_view value) {
      if (key.front() == 't' && value.size() >= sizeof(std::int64_t))
        put(Family::tokens,
            token_expiry_key(key.substr(1),
                             base::from_epoch_milliseconds(base::load_big_endian<std::int64_t>(value.data()))),
            "");
      else if (!found.contains(key))
        remove(Family::tokens, key);
    });
  }

  base::Result<void> check_undo_records() {
    std::set<ObjectId> damaged;
    TRY_VOID(walk_all(Family::undo, [&](const std::string& key, std::string_view value) {
      const auto place = parse_undo_key(key);
      const auto table = tables_.find(id_of(key));
      const bool is_known = place && table != tables_.end() && table->second.keeps_undo_records();
      if (is_known) last_number_ = std::max(last_number_, place->number);
      if (is_known && is_sound_undo_record(table->second, value)) return;
      if (is_known) damaged.insert(table->first);
      remove(Family::undo, key);
    }));
    for (const ObjectId id : damaged) lost_.add("table " + tables_.at(id).name + ": records of what it was before");
    return {};
  }

  // A table that is restored is exact, or it is not there.
  void begin_recovery_anew() {
    for (Backup& backup : backups_) {
      if (!backup.is_being_made()) continue;
      lost_.add("backup " + backup.id + " of table " + backup.table.name +
                ": it was being made, and must be made again");
      forget(backup);
    }
    for (auto& [id, table] : tables_) {
      if (table.restore) {
        lost_.add("table " + table.name + ": it was being restored, and must be restored again");
        forget(table);
      } else if (table.is_recorded && !table.recovery) {
        table.is_recorded = false;
        put(Family::meta, std::string(table_prefix) + table.name, encode_table(table));
        remove_all(Family::undo, id);
      } else if (table.recovery) {
        table.is_recorded = false;
        lost_.add("table " + table.name + ": it can be restored to times after the repair only");
        table.recovery = PointInTimeRecovery{now_, table.recovery->period_days, std::nullopt};
        put(Family::meta, std::string(table_prefix) + table.name, encode_table(table));
        remove_all(Family::undo, id);
      }
    }
  }

  void remove_all(Family family, ObjectId id) {
    batch_.DeleteRange(database_.handle(family), id_prefix(id), end_of(id));
  }
  void forget(const Backup& backup) {
    remove(Family::meta, std::string(backup_prefix) + backup.id);
    remove(Family::meta, restored_key(backup.table.id));
    remove(Family::meta, statistics_key(backup.table.id));
    remove_all(Family::items, backup.table.id);
  }
  void forget(const Table& table) {
    remove(Family::meta, std::string(table_prefix) + table.name);
    remove(Family::meta, restored_key(table.id));
    remove(Family::meta, statistics_key(table.id));
    remove_all(Family::items, table.id);
    for (const Index& index : table.indexes) {
      remove(Family::meta, statistics_key(index.id));
      remove_all(Family::indexes, index.id);
    }
  }

  // Numbers must not be given out twice, even if their counters are lost. The opening that comes next adds one.
  base::Result<void> write_counters() {
    const auto raise = [&](std::string_view name, std::uint64_t least) -> base::Result<void> {
      TRY(const auto stored, database_.get(Family::meta, name));
      const bool whole = stored && stored->size() == sizeof(std::uint64_t);
      const std::uint64_t value = whole ? base::load_big_endian<std::uint64_t>(stored->data()) : 0;
      std::string bytes;
      base::append_big_endian(bytes, std::max(value, least));
      put(Family::meta, name, bytes);
      return {};
    };
    TRY_VOID(raise(next_id_key, std::uint64_t{last_id_} + 1));
    return raise(openings_key, last_number_ >> numbers_per_opening_bits);
  }

  Database& database_;
  const std::vector<store::TableSetup>& known_;
  const base::TimePoint now_;
  Findings& lost_;
  rocksdb::WriteBatch batch_;
  std::map<ObjectId, Table> tables_;
  std::vector<Backup> backups_;
  std::set<ObjectId> table_ids_;
  std::set<ObjectId> stream_ids_;
  ObjectId last_id_ = 0;
  RecordNumber last_number_ = 0;
};

}  // namespace

base::Result<void> rebuild_contents(Database& database, const std::vector<store::TableSetup>& known,
                                    base::TimePoint now, Findings& lost) {
  return ContentsRebuild(database, known, now, lost).run();
}

}  // namespace postino::engine
