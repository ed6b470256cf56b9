#include "engine/recovery/contents_check.h"

#include <limits>
#include <map>
#include <set>

#include "base/bytes.h"
#include "base/hash.h"
#include "engine/catalog/catalog_keys.h"
#include "engine/catalog/catalog_record.h"
#include "engine/catalog/item_keys.h"
#include "engine/items/change.h"
#include "engine/items/expiry_group.h"
#include "engine/items/transaction_tokens.h"
#include "engine/recovery/sound_item.h"
#include "engine/streams/stream_record.h"
#include "item/json_codec.h"
#include "item/size.h"

namespace postino::engine {

namespace {

std::string key_text(const Table& table, const item::Item& item) {
  item::Key key;
  key.set(table.hash.name, *item.find(table.hash.name));
  if (table.range) key.set(table.range->name, *item.find(table.range->name));
  return item::to_json(key);
}

struct Amount {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

class ContentsCheck {
 public:
  ContentsCheck(const OfflineDatabase& database, base::TimePoint now, const EachItem& each, Findings& problems,
                StoreCounts& counts)
      : database_(database), now_(now), each_(each), problems_(problems), counts_(counts) {}

  base::Result<void> run() {
    TRY_VOID(read_catalog());
    for (const auto& [id, table] : tables_) TRY_VOID(check_table(table));
    for (const Backup& backup : backups_) TRY_VOID(check_image(backup));
    TRY_VOID(check_stream_records());
    TRY_VOID(check_tokens());
    TRY_VOID(check_undo_records());
    TRY_VOID(check_strays(Family::items, table_ids_, "items"));
    TRY_VOID(check_strays(Family::expiry, table_ids_, "expiry entries"));
    TRY_VOID(check_strays(Family::indexes, index_ids_, "index entries"));
    return {};
  }

 private:
  // Calls `each` with every key and value of a family that begins with the prefix.
  template <class Each>
  base::Result<void> walk(Family family, const std::string& prefix, const Each& each) const {
    const auto entries = database_.iterate(family);
    if (!entries) return {};
    for (entries->Seek(prefix); entries->Valid() && entries->key().starts_with(prefix); entries->Next())
      TRY_VOID(each(entries->key().ToStringView(), entries->value().ToStringView()));
    if (!entries->status().ok()) return base::propagate(error_from(entries->status()));
    return {};
  }

  base::Result<void> read_catalog() {
    TRY(const std::uint64_t next_id, counter(next_id_key, 1));
    TRY(openings_, counter(openings_key, 0));
    TRY_VOID(walk(Family::meta, std::string(table_prefix),
                  [&](std::string_view key, std::string_view value) -> base::Result<void> {
                    const std::string what = "table " + std::string(key.substr(table_prefix.size()));
                    auto table = decode_table(value);
                    if (!table || table->name != key.substr(table_prefix.size())) {
                      problems_.add(what + ": its record cannot be read");
                      return {};
                    }
                    note_id(table->id, next_id, table_ids_, what);
                    for (const Index& index : table->indexes)
                      note_id(index.id, next_id, index_ids_, what + ", index " + index.name);
                    tables_.emplace(table->id, *std::move(table));
                    return {};
                  }));
    TRY_VOID(walk(Family::meta, std::string(stream_prefix),
                  [&](std::string_view, std::string_view value) -> base::Result<void> {
                    auto stream = decode_stream(value);
                    if (!stream)
                      problems_.add("a stream: its record cannot be read");
                    else
                      note_id(stream->id, next_id, stream_ids_, "stream of table " + stream->table_name);
                    return {};
                  }));
    TRY_VOID(walk(Family::meta, std::string(backup_prefix),
                  [&](std::string_view key, std::string_view value) -> base::Result<void> {
                    const std::string id(key.substr(backup_prefix.size()));
                    auto backup = decode_backup(value);
                    if (!backup || backup->id != id) {
                      problems_.add("backup " + id + ": its record cannot be read");
                      return {};
                    }
                    note_id(backup->table.id, next_id, table_ids_, "backup " + id);
                    backups_.push_back(*std::move(backup));
                    return {};
                  }));
    for (const auto& [id, table] : tables_)
      if (table.stream && !stream_ids_.contains(table.stream->id))
        problems_.add("table " + table.name + ": its stream has no record");
    counts_.tables = tables_.size();
    return {};
  }

  base::Result<std::uint64_t> counter(std::string_view name, std::uint64_t initial) const {
    TRY(const auto value, database_.get(Family::meta, name));
    if (!value) return initial;
    if (value->size() == sizeof(std::uint64_t)) return base::load_big_endian<std::uint64_t>(value->data());
    problems_.add("the counter " + std::string(name) + " of the catalog cannot be read");
    return initial;
  }

  void note_id(ObjectId id, std::uint64_t next_id, std::set<ObjectId>& ids, const std::string& what) {
    if (id >= next_id) problems_.add(what + ": its number " + std::to_string(id) + " was not given out yet");
    if (!all_ids_.insert(id).second) problems_.add(what + ": its number " + std::to_string(id) + " is used twice");
    ids.insert(id);
  }

  base::Result<void> check_table(const Table& table) {
    Amount items;
    std::map<ObjectId, Amount> entries;  // that the indexes must have
    std::uint64_t expiring = 0;
    TRY_VOID(walk(Family::items, id_prefix(table.id), [&](std::string_view key, std::string_view value) {
      return check_item(table, std::string(key), value, items, entries, expiring);
    }));
    counts_.items += static_cast<std::uint64_t>(items.count);
    TRY_VOID(check_count("table " + table.name, table.id, items));
    for (const Index& index : table.indexes) {
      TRY_VOID(check_count("table " + table.name + ", index " + index.name, index.id, entries[index.id]));
      TRY_VOID(check_index(table, index, static_cast<std::uint64_t>(entries[index.id].count)));
    }
    return check_expiry(table, expiring);
  }

  base::Result<void> check_image(const Backup& backup) {
    const std::string what = "backup " + backup.id + " of table " + backup.table.name;
    Amount items;
    TRY_VOID(walk(Family::items, id_prefix(backup.table.id),
                  [&](std::string_view key, std::string_view value) -> base::Result<void> {
                    const StoredItemPointer item = read_sound_item(backup.table, std::string(key), value);
                    if (!item) problems_.add(what + ": the item stored as " + base::to_hex(key) + " cannot be read");
                    ++items.count;
                    items.bytes += item ? static_cast<std::int64_t>(item->size) : 0;
                    return {};
                  }));
    ++counts_.backups;
    counts_.backup_items += static_cast<std::uint64_t>(items.count);
    return check_count(what, backup.table.id, items);
  }

  base::Result<void> check_item(const Table& table, const std::string& key, std::string_view value, Amount& items,
                                std::map<ObjectId, Amount>& entries, std::uint64_t& expiring) {
    ++items.count;
    const StoredItemPointer item = read_sound_item(table, key, value);
    if (!item) {
      problems_.add("table " + table.name + ": the item stored as " + base::to_hex(key) + " cannot be read");
      return {};
    }
    const std::string what = "table " + table.name + ": the item " + key_text(table, item->item);
    if (each_) each_(table.name, item->item);
    items.bytes += static_cast<std::int64_t>(item->size);
    if (item->size != item::size_of(item->item)) problems_.add(what + " has a wrong size");
    CommitEntry expected;
    for (const Index& index : table.indexes)
      if (is_filled(index.backfill, key)) plan_index_entry(index, key, item, expected);
    if (table.time_to_live && is_filled(table.time_to_live->backfill, key))
      plan_expiry_entry(table, key, *item, now_, expected);
    for (const StatisticsDelta& delta : expected.statistics) {
      entries[delta.id].count += delta.count;
      entries[delta.id].bytes += delta.bytes;
    }
    for (const Mutation& mutation : expected.mutations) {
      TRY(const auto stored, database_.get(mutation.family, mutation.key));
      if (mutation.family == Family::expiry) {
        TRY(const bool in_group, stored ? base::Result<bool>(false) : is_in_group(mutation.key));
        if (in_group) continue;
        ++expiring;
      }
      if (!stored)
        problems_.add(what + " is missing in " + place_of(table, mutation));
      else if (*stored != mutation.value)
        problems_.add(what + " is not the same in " + place_of(table, mutation));
    }
    return {};
  }

  static std::string place_of(const Table& table, const Mutation& mutation) {
    if (mutation.family == Family::expiry) return "the expiry entries";
    const auto id = base::load_big_endian<ObjectId>(mutation.key.data());
    for (const Index& index : table.indexes)
      if (index.id == id) return "index " + index.name;
    return "an index";
  }

  base::Result<void> check_count(const std::string& what, ObjectId id, const Amount& found) {
    TRY(const auto value, database_.get(Family::meta, statistics_key(id)));
    base::ByteReader reader(value ? std::string_view(*value) : std::string_view());
    const auto count = static_cast<std::int64_t>(reader.varint().value_or(0));
    const auto bytes = static_cast<std::int64_t>(reader.varint().value_or(0));
    if (count != found.count || bytes != found.bytes)
      problems_.add(what + ": has " + std::to_string(found.count) + " items of " + std::to_string(found.bytes) +
                    " bytes, and is counted as " + std::to_string(count) + " of " + std::to_string(bytes));
    return {};
  }

  // Every entry that must be there was looked for. As many entries as that: there are no others.
  base::Result<void> check_index(const Table& table, const Index& index, std::uint64_t expected) {
    std::uint64_t found = 0;
    TRY_VOID(walk(Family::indexes, id_prefix(index.id), [&](std::string_view, std::string_view) -> base::Result<void> {
      ++found;
      return {};
    }));
    counts_.index_entries += found;
    if (found == expected) return {};
    return walk(Family::indexes, id_prefix(index.id), [&](std::string_view key, std::string_view value) {
      return check_index_entry(table, index, key, value);
    });
  }

  base::Result<void> check_index_entry(const Table& table, const Index& index, std::string_view key,
                                       std::string_view value) {
    const std::string what = "table " + table.name + ", index " + index.name + ": the entry ";
    const auto entry = load_item(value);
    if (!entry || !has_key_of(table, (*entry)->item)) {
      problems_.add(what + base::to_hex(key) + " cannot be read");
      return {};
    }
    const std::string stored_key = item_key(table, (*entry)->item);
    TRY(const auto stored, database_.get(Family::items, stored_key));
    const auto item = stored ? load_item(*stored) : base::Result<StoredItemPointer>(nullptr);
    if (!item || !*item || index_key(index, (*item)->item, stored_key) != key)
      problems_.add(what + key_text(table, (*entry)->item) + " belongs to no item");
    return {};
  }

  base::Result<bool> is_in_group(std::string_view entry_key) {
    const ExpiryEntry expiry = parse_expiry_key(entry_key);
    std::string groups = expiry_groups_of(expiry.second, expiry.stored_item_key);
    // The items of a partition come one after the other.
    if (groups != groups_) {
      in_groups_.clear();
      TRY_VOID(walk(Family::expiry, groups, [&](std::string_view key, std::string_view value) -> base::Result<void> {
        if (const auto group = parse_expiry_group(key, value))
          in_groups_.insert(group->stored_item_keys.begin(), group->stored_item_keys.end());
        return {};
      }));
      groups_ = std::move(groups);
    }
    return in_groups_.contains(expiry.stored_item_key);
  }

  // Entries of items that expired more than five years ago may be there or not. A group may have items that are gone.
  base::Result<void> check_expiry(const Table& table, std::uint64_t expected) {
    std::uint64_t found = 0;
    TRY_VOID(walk(Family::expiry, id_prefix(table.id),
                  [&](std::string_view key, std::string_view value) -> base::Result<void> {
                    if (!is_expiry_group(key)) {
                      ++found;
                      return {};
                    }
                    const auto group = parse_expiry_group(key, value);
                    if (group)
                      counts_.expiry_entries += group->stored_item_keys.size();
                    else
                      problems_.add("table " + table.name + ": " + group.error().message);
                    return {};
                  }));
    counts_.expiry_entries += found;
    if (found == expected) return {};
    return walk(Family::expiry, id_prefix(table.id),
                [&](std::string_view key, std::string_view) { return check_expiry_entry(table, key); });
  }

  base::Result<void> check_expiry_entry(const Table& table, std::string_view key) {
    if (is_expiry_group(key)) return {};
    const std::string what = "table " + table.name + ": the expiry entry " + base::to_hex(key) + " belongs to no item";
    if (key.size() <= object_id_size + sizeof(std::int64_t)) {
      problems_.add(what);
      return {};
    }
    const ExpiryEntry entry = parse_expiry_key(key);
    TRY(const auto stored, database_.get(Family::items, entry.stored_item_key));
    const auto item = stored ? load_item(*stored) : base::Result<StoredItemPointer>(nullptr);
    const base::TimePoint then = base::from_epoch_milliseconds(0);
    if (!item || !*item || expiry_second(table, (*item)->item, then) != entry.second) problems_.add(what);
    return {};
  }

  base::Result<void> check_stream_records() {
    return walk(Family::streams, "", [&](std::string_view key, std::string_view value) -> base::Result<void> {
      ++counts_.stream_records;
      const bool whole_key = key.size() == object_id_size + sizeof(RecordNumber);
      if (!whole_key || !stream_ids_.contains(base::load_big_endian<ObjectId>(key.data())))
        problems_.add("the change record " + base::to_hex(key) + " belongs to no stream");
      else if (sequence_number_of(key) >> numbers_per_opening_bits > openings_)
        problems_.add("the change record " + base::to_hex(key) + " has a number that was not given out yet");
      else if (!decode_stream_record(value))
        problems_.add("the change record " + base::to_hex(key) + " cannot be read");
      return {};
    });
  }

  base::Result<void> check_tokens() {
    return walk(Family::tokens, "", [&](std::string_view key, std::string_view value) -> base::Result<void> {
      const std::string text(key.substr(1));
      std::string other;
      if (key.front() == 't' && value.size() >= sizeof(std::int64_t))
        other =
            token_expiry_key(text, base::from_epoch_milliseconds(base::load_big_endian<std::int64_t>(value.data())));
      else if (key.front() == 'e' && key.size() > sizeof(std::int64_t))
        other = token_key(token_of_expiry_key(key));
      TRY(const auto found, other.empty() ? std::nullopt : database_.get(Family::tokens, other));
      if (!found) problems_.add("the request token " + base::to_hex(key) + " is incomplete");
      return {};
    });
  }

  base::Result<void> check_undo_records() {
    return walk(Family::undo, "", [&](std::string_view key, std::string_view value) -> base::Result<void> {
      ++counts_.undo_records;
      const auto place = parse_undo_key(key);
      const auto table = place ? tables_.find(base::load_big_endian<ObjectId>(key.data())) : tables_.end();
      const std::string what = "the undo record " + base::to_hex(key);
      if (table == tables_.end() || !table->second.keeps_undo_records())
        problems_.add(what + " belongs to no table with point-in-time recovery");
      else if (place->number >> numbers_per_opening_bits > openings_)
        problems_.add(what + " has a number that was not given out yet");
      else if (!is_sound_undo_record(table->second, value))
        problems_.add(what + " cannot be read");
      return {};
    });
  }

  base::Result<void> check_strays(Family family, const std::set<ObjectId>& known, const std::string& what) {
    const auto entries = database_.iterate(family);
    if (!entries) return {};
    for (entries->SeekToFirst(); entries->Valid();) {
      const std::string key = entries->key().ToString();
      const ObjectId id = key.size() < object_id_size ? 0 : base::load_big_endian<ObjectId>(key.data());
      if (!known.contains(id))
        problems_.add("there are " + what + " of number " + std::to_string(id) + ", which nothing has");
      if (id == std::numeric_limits<ObjectId>::max()) break;
      entries->Seek(id_prefix(id + 1));
    }
    if (!entries->status().ok()) return base::propagate(error_from(entries->status()));
    return {};
  }

  const OfflineDatabase& database_;
  std::string groups_;               // what the expiry groups begin with that were read last
  std::set<std::string> in_groups_;  // item keys in them
  const base::TimePoint now_;
  const EachItem& each_;
  Findings& problems_;
  StoreCounts& counts_;
  std::map<ObjectId, Table> tables_;
  std::vector<Backup> backups_;
  std::set<ObjectId> all_ids_;
  std::set<ObjectId> table_ids_;
  std::set<ObjectId> index_ids_;
  std::set<ObjectId> stream_ids_;
  std::uint64_t openings_ = 0;
};

}  // namespace

base::Result<void> check_contents(const OfflineDatabase& database, base::TimePoint now, const EachItem& each,
                                  Findings& problems, StoreCounts& counts) {
  return ContentsCheck(database, now, each, problems, counts).run();
}

}  // namespace postino::engine
