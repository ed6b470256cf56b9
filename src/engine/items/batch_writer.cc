#include <algorithm>
#include <set>

#include "engine/items/collection_metrics.h"
#include "engine/items/consumption.h"
#include "engine/items/item_writer.h"
#include "engine/items/key_rules.h"
#include "engine/items/traffic.h"
#include "store/constraints.h"

namespace postino::engine {

namespace {

using store::refuse_invalid;

store::Answer<void> check_batch_write(const store::BatchWriteItemRequest& request) {
  std::size_t count = 0;
  for (const store::BatchWriteTable& table : request.tables) count += table.writes.size();
  const bool has_empty_table =
      std::ranges::any_of(request.tables, [](const auto& table) { return table.writes.empty(); });
  store::Constraints constraints;
  constraints.check_count("requestItems", has_empty_table ? 0 : count, 1, store::Constraints::any_number);
  TRY_VOID(constraints.outcome());
  if (count > store::max_batch_write_requests)
    return refuse_invalid("Too many items requested for the BatchWriteItem call");
  return {};
}

store::Answer<std::vector<ItemWrite>> prepare_batch(const store::BatchWriteItemRequest& request) {
  std::vector<ItemWrite> writes;
  for (const store::BatchWriteTable& table : request.tables)
    for (const store::BatchWrite& write : table.writes) {
      TRY(ItemWrite prepared, prepare(table.table_name, write));
      writes.push_back(std::move(prepared));
    }
  return writes;
}

// The key of an item is checked like any key in a batch, and not like that of an item that is put alone.
store::Answer<void> check_batched_key(const ItemWrite& write) {
  if (write.action != WriteAction::put) return {};
  TRY_VOID(check_key_not_empty(*write.table, *write.subject));
  return check_key(*write.table, key_within(*write.table, *write.subject));
}

// Which keys are the same is known of deletions without the table.
bool has_equal_deletions(const store::BatchWriteItemRequest& request) {
  const auto key_of_deletion = [](const store::BatchWrite& write) -> const item::Key* {
    const auto* deletion = std::get_if<store::BatchDelete>(&write);
    return deletion == nullptr ? nullptr : &deletion->key;
  };
  return std::ranges::any_of(request.tables, [&](const store::BatchWriteTable& table) {
    for (std::size_t i = 0; i < table.writes.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const item::Key* key = key_of_deletion(table.writes[i]);
        const item::Key* other = key_of_deletion(table.writes[j]);
        if (key != nullptr && other != nullptr && *key == *other) return true;
      }
    return false;
  });
}

store::Answer<void> locate_batch(const Core& core, std::vector<ItemWrite>& writes) {
  const ItemWrite* previous = nullptr;
  for (ItemWrite& write : writes) {
    if (previous != nullptr && previous->table_name == write.table_name)
      write.table = previous->table;
    else
      TRY_VOID(find_table(core, write));
    TRY_VOID(check_batched_key(write));
    TRY_VOID(locate(write));
    previous = &write;
  }
  std::set<std::string_view> keys;
  for (const ItemWrite& write : writes)
    if (!keys.insert(write.key).second) return refuse_invalid(std::string(duplicate_keys));
  return {};
}

// Reads everything before anything is planned: a failed read must leave the entry empty.
store::Answer<std::vector<Change>> decide_batch(const Core& core, const std::vector<ItemWrite>& writes,
                                                LockedItems& items) {
  std::vector<Change> changes;
  for (const ItemWrite& write : writes) {
    TRY(Decision decision, items.decide(write));
    TRY(Change change, std::move(decision));
    TRY_VOID(check_collection_size(core, *write.table, *write.subject, change));
    changes.push_back(std::move(change));
  }
  return changes;
}

// Notes a write that was throttled. Writes come in the order of the request.
void add_unprocessed(const std::string& table_name, const store::BatchWrite& write,
                     std::vector<store::BatchWriteTable>& unprocessed) {
  if (unprocessed.empty() || unprocessed.back().table_name != table_name) unprocessed.push_back({table_name, {}});
  unprocessed.back().writes.push_back(write);
}

store::Answer<void> admit_write(const Core& core, const Table& table, const Change& change) {
  TRY_VOID(admit(core, table, nullptr, Access::write, change.key));
  return admit_index_writes(core, table, change);
}

}  // namespace

Planned ItemWriter::write_batch(const store::BatchWriteItemRequest& request, const BatchEntry& entry) {
  LockedItems items(core_);
  entry->answer = plan_batch(request, items, *entry);
  return items.queue(entry) ? Planned::queued : Planned::answered;
}

store::Answer<store::BatchWriteItemResponse> ItemWriter::plan_batch(const store::BatchWriteItemRequest& request,
                                                                    LockedItems& items, CommitEntry& entry) {
  TRY_VOID(check_room(core_));
  TRY_VOID(check_batch_write(request));
  TRY(std::vector<ItemWrite> writes, prepare_batch(request));
  TRY_VOID(items.lock(writes, std::nullopt, [&]() -> store::Answer<void> {
    auto located = locate_batch(core_, writes);
    // DynamoDB looks for duplicates first; that costs nothing where all is well.
    if (!located && has_equal_deletions(request)) return refuse_invalid(std::string(duplicate_keys));
    return located;
  }));
  TRY(std::vector<Change> changes, decide_batch(core_, writes, items));

  store::BatchWriteItemResponse response;
  Consumption consumption(core_, request.report.consumed_capacity, Access::write);
  bool any_written = false;
  store::Answer<void> admitted;
  std::size_t next = 0;
  for (const store::BatchWriteTable& batch : request.tables)
    for (const store::BatchWrite& requested : batch.writes) {
      const ItemWrite& write = writes[next];
      const Change& change = changes[next++];
      admitted = admit_write(core_, *write.table, change);
      if (!admitted) {
        add_unprocessed(batch.table_name, requested, response.unprocessed);
        continue;
      }
      any_written = true;
      const std::vector<IndexEffect> effects = items.plan(*write.table, change, entry);
      count_write(core_, *write.table, change, effects, entry);
      take_partition_writes(core_, *write.table, change, effects, entry);
      consumption.add_write(*write.table, change.before, change.after, effects);
      if (request.report.item_collection_metrics)
        add_collection_metrics(core_, *write.table, *write.subject, response.item_collection_metrics);
    }
  if (!any_written) TRY_VOID(admitted);
  response.consumed_capacity = std::move(consumption).all();
  return response;
}

}  // namespace postino::engine
