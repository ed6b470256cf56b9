#include "engine/backups/table_transfers.h"

#include <map>

#include "base/timestamp.h"
#include "engine/backups/past_changes.h"
#include "engine/backups/past_items.h"
#include "engine/backups/restorable_window.h"
#include "engine/catalog/catalog_keys.h"
#include "engine/catalog/item_keys.h"
#include "engine/items/key_rules.h"
#include "engine/items/locked_items.h"
#include "engine/rules/create_table_rules.h"
#include "engine/tables/busy_table_rules.h"
#include "engine/tables/table_creation.h"
#include "engine/tables/table_definition.h"
#include "engine/tables/table_description.h"
#include "engine/tables/table_transition.h"

namespace postino::engine {

namespace {

std::string transfer_key(const std::string& id) { return std::string(transfer_prefix) + id; }

class PastItemReader final : public store::ItemReader {
 public:
  PastItemReader(const Core& core, ObjectId table, base::TimePoint end)
      : items_(*core.database, table, end, "", core.options.restore_bytes) {}

  store::Answer<store::ItemPortion> next() override {
    TRY(const PastItems::Portion read, items_.next());
    store::ItemPortion portion;
    portion.is_last = read.is_last;
    portion.items.reserve(read.items.size());
    for (const PastItems::Item& each : read.items) {
      TRY(MeasuredItem item, read_item(each.value));
      portion.bytes += static_cast<std::int64_t>(item.size);
      portion.items.push_back(std::move(item.item));
    }
    return portion;
  }

 private:
  PastItems items_;
};

tl::unexpected<store::Error> no_such_past_table(const std::string& name) {
  return store::refuse(store::ErrorType::table_not_found, "Table not found: " + name);
}

}  // namespace

store::Answer<store::PastTable> EngineTransfers::past_table(const std::string& table_arn,
                                                            std::optional<base::TimePoint> time) {
  const std::string ours = core_.table_arn("");
  const std::string name = table_arn.starts_with(ours) ? table_arn.substr(ours.size()) : table_arn;
  const TablePointer table = core_.find_table(name);
  if (!table || !table_arn.starts_with(ours)) return no_such_past_table(name);
  const std::optional<RestorableWindow> window = restorable_window(core_, *table);
  if (!window)
    return store::refuse(store::ErrorType::point_in_time_recovery_unavailable,
                         "Point in time recovery is not enabled for table '" + name + "'");
  const base::TimePoint second = std::chrono::floor<std::chrono::seconds>(time.value_or(window->latest));
  if (second < window->earliest || second > window->latest)
    return store::refuse(store::ErrorType::invalid_export_time,
                         "Invalid Request: the time of an export must be between EarliestRestorableDateTime " +
                             base::format_timestamp(window->earliest) + " and LatestRestorableDateTime " +
                             base::format_timestamp(window->latest));
  store::PastTable past{name, table_arn, table->uuid, {table->hash.name}, second};
  if (table->range) past.key_attributes.push_back(table->range->name);
  return past;
}

store::Answer<TablePointer> EngineTransfers::restorable(const store::PastTable& past, base::TimePoint from) const {
  const TablePointer table = core_.find_table(past.name);
  if (!table || table->uuid != past.id) return no_such_past_table(past.name);
  const std::optional<RestorableWindow> window = restorable_window(core_, *table);
  if (!window || from < window->earliest)
    return store::refuse(store::ErrorType::invalid_export_time, "Table " + past.name + " cannot be brought back to " +
                                                                    base::format_timestamp(from) + " any more");
  return table;
}

store::Answer<std::unique_ptr<store::ItemReader>> EngineTransfers::read_items(const store::PastTable& past) {
  // Who asked for a change of tables has the mutex until that is on disk: so is all that was committed before.
  const std::lock_guard control(core_.control_mutex);
  TRY(const TablePointer table, restorable(past, past.time));
  const base::TimePoint end = past.time + std::chrono::seconds(1);
  core_.queue->begin_time(end);
  // What was queued before has its time, and is on disk with this.
  TRY_VOID(core_.change_catalog([](CatalogState&, CommitEntry&) -> store::Answer<void> { return {}; }));
  return std::unique_ptr<store::ItemReader>(std::make_unique<PastItemReader>(core_, table->id, end));
}

store::Answer<std::unique_ptr<store::ChangeReader>> EngineTransfers::read_changes(const store::PastTable& past,
                                                                                  base::TimePoint from) {
  const std::lock_guard control(core_.control_mutex);
  TRY(TablePointer table, restorable(past, from));
  core_.queue->begin_time(past.time);
  TRY_VOID(core_.change_catalog([](CatalogState&, CommitEntry&) -> store::Answer<void> { return {}; }));
  return std::unique_ptr<store::ChangeReader>(
      std::make_unique<PastChanges>(*core_.database, std::move(table), from, past.time, core_.options.restore_bytes));
}

store::Answer<store::TableDescription> EngineTransfers::begin_import(const store::CreateTableRequest& request,
                                                                     const store::TransferRecord& record) {
  TRY_VOID(check_create_table(request));
  const std::lock_guard control(core_.control_mutex);
  const CatalogStatePointer before = core_.catalog->state();
  if (const auto existing = before->tables.find(request.table_name); existing != before->tables.end())
    return base::propagate(in_the_way(*existing->second));
  TRY_VOID(check_room_for_table(*before));
  Table table = make_table(request, core_.options, core_.now());
  table.is_imported = true;
  TRY_VOID(core_.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    commit_creation(core_, std::nullopt, table, state, entry);
    entry.put(Family::meta, transfer_key(record.id), record.text);
    return {};
  }));
  return describe_table(core_, table);
}

store::Answer<store::ImportedItems> EngineTransfers::import_items(const std::string& table_name,
                                                                  std::vector<item::Item> items) {
  const TablePointer table = core_.catalog->find(table_name);
  if (!table || !table->is_imported) return base::propagate(no_such_table(table_name));
  store::ImportedItems outcome;
  std::map<std::string, item::Item> wanted;  // in the order in which they lie
  for (item::Item& item : items) {
    store::Answer<void> sound = check_attributes(item);
    if (sound) sound = check_item(*table, item);
    if (!sound) {
      outcome.refusals.push_back(sound.error().message);
      continue;
    }
    ++outcome.count;
    std::string key = item_key(*table, item);
    wanted.insert_or_assign(std::move(key), std::move(item));
  }
  if (wanted.empty()) return outcome;
  std::vector<std::string> keys;
  for (const auto& [key, item] : wanted) keys.push_back(key);
  const auto entry = std::make_shared<CommitEntry>();
  bool is_queued = false;
  {
    LockedItems locked(core_);
    locked.lock(keys);
    for (auto& [key, item] : wanted) {
      TRY(const StoredItemPointer before, locked.read(key));
      locked.plan(*table, {key, before, store_item(std::move(item))}, *entry);
    }
    is_queued = locked.queue(entry);
  }
  if (is_queued) TRY_VOID(core_.queue->wait(entry));
  return outcome;
}

store::Answer<void> EngineTransfers::end_import(const std::string& table_name, bool keep_table,
                                                const store::TransferRecord& record) {
  const std::lock_guard control(core_.control_mutex);
  return core_.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    entry.put(Family::meta, transfer_key(record.id), record.text);
    const auto found = state.tables.find(table_name);
    if (found == state.tables.end() || !found->second->is_imported) return {};
    Table table = *found->second;
    if (!keep_table) {
      erase_table(core_, std::move(table), state, entry);
      return {};
    }
    table.is_imported = false;
    put_table(state, entry, std::move(table));
    return {};
  });
}

store::Answer<void> EngineTransfers::put_record(const store::TransferRecord& record) {
  const std::lock_guard control(core_.control_mutex);
  return core_.change_catalog([&](CatalogState&, CommitEntry& entry) -> store::Answer<void> {
    entry.put(Family::meta, transfer_key(record.id), record.text);
    return {};
  });
}

store::Answer<void> EngineTransfers::remove_record(const std::string& id) {
  const std::lock_guard control(core_.control_mutex);
  return core_.change_catalog([&](CatalogState&, CommitEntry& entry) -> store::Answer<void> {
    entry.remove(Family::meta, transfer_key(id));
    return {};
  });
}

store::Answer<std::vector<store::TransferRecord>> EngineTransfers::records() {
  const rocksdb::Slice lower(transfer_prefix.data(), transfer_prefix.size());
  const rocksdb::Slice upper(transfer_end.data(), transfer_end.size());
  const auto entries = core_.database->iterate(Family::meta, lower, upper);
  std::vector<store::TransferRecord> found;
  for (entries->SeekToFirst(); entries->Valid(); entries->Next())
    found.push_back({entries->key().ToString().substr(transfer_prefix.size()), entries->value().ToString()});
  if (!entries->status().ok()) return base::propagate(error_from(entries->status()));
  return found;
}

}  // namespace postino::engine
