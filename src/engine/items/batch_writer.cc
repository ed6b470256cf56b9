#include <algorithm>
#include <set>

#include "engine/catalog/item_keys.h"
#include "engine/items/collection_metrics.h"
#include "engine/items/consumption.h"
#include "engine/items/item_writer.h"
#include "engine/items/key_rules.h"
#include "engine/items/locked_items.h"

namespace postino::engine {

namespace {

using store::refuse_invalid;

struct BatchedWrite {
  const store::BatchWriteTable* batch = nullptr;  // where in the request it is
  const store::BatchWrite* request = nullptr;
  TablePointer table;
  std::string key;
  const item::Map* subject = nullptr;
  StoredItemPointer after;
};

store::Answer<void> check_batch_write(const store::BatchWriteItemRequest& request) {
  std::size_t count = 0;
  for (const store::BatchWriteTable& table : request.tables) count += table.writes.size();
  if (count == 0 || std::ranges::any_of(request.tables, [](const auto& table) { return table.writes.empty(); }))
    return refuse_invalid(
        "1 validation error detected: Value at 'requestItems' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1");
  if (count > store::max_batch_write_requests)
    return refuse_invalid("Too many items requested for the BatchWriteItem call");
  for (const store::BatchWriteTable& table : request.tables)
    for (const store::BatchWrite& write : table.writes)
      if (const auto* put = std::get_if<store::BatchPut>(&write))
        TRY_VOID(check_attributes(put->item));
      else
        TRY_VOID(check_attributes(std::get<store::BatchDelete>(write).key));
  return {};
}

store::Answer<BatchedWrite> batched_write(const TablePointer& table, const store::BatchWrite& write) {
  BatchedWrite result;
  result.table = table;
  if (const auto* put = std::get_if<store::BatchPut>(&write)) {
    result.subject = &put->item;
    // Faults of a key have one wording here, whatever is wrong with it.
    if (auto checked = check_item_key(*table, put->item); !checked) {
      TRY_VOID(check_key_not_empty(*table, put->item));
      TRY_VOID(check_key(*table, item::Key()));
    }
    TRY_VOID(check_item(*table, put->item));
    result.after = store_item(put->item);
  } else {
    result.subject = &std::get<store::BatchDelete>(write).key;
    TRY_VOID(check_key(*table, *result.subject));
  }
  result.key = item_key(*table, *result.subject);
  return result;
}

store::Answer<std::vector<BatchedWrite>> batched_writes(const Core& core, const store::BatchWriteItemRequest& request) {
  std::vector<BatchedWrite> writes;
  std::set<std::string_view> keys;
  for (const store::BatchWriteTable& batch : request.tables) {
    const TablePointer table = core.find_table(batch.table_name);
    if (!table) return base::propagate(no_such_table());
    for (const store::BatchWrite& write : batch.writes) {
      TRY(BatchedWrite batched, batched_write(table, write));
      batched.batch = &batch;
      batched.request = &write;
      writes.push_back(std::move(batched));
    }
  }
  for (const BatchedWrite& write : writes)
    if (!keys.insert(write.key).second) return refuse_invalid("Provided list of item keys contains duplicates");
  return writes;
}

// Notes a write that was throttled. Writes come in the order of the request.
void add_unprocessed(const BatchedWrite& write, std::vector<store::BatchWriteTable>& unprocessed) {
  if (unprocessed.empty() || unprocessed.back().table_name != write.batch->table_name)
    unprocessed.push_back({write.batch->table_name, {}});
  unprocessed.back().writes.push_back(*write.request);
}

store::Answer<void> admit_write(const Core& core, const Table& table, const Change& change) {
  TRY_VOID(admit(core, table, nullptr, Access::write));
  return admit_index_writes(core, table, change);
}

}  // namespace

Planned ItemWriter::write_batch(const store::BatchWriteItemRequest& request, const BatchEntry& entry) {
  LockedItems items(core_);
  const auto plan = [&]() -> store::Answer<store::BatchWriteItemResponse> {
    TRY_VOID(check_room(core_));
    TRY_VOID(check_batch_write(request));
    while (true) {
      TRY(const std::vector<BatchedWrite> writes, batched_writes(core_, request));
      std::vector<std::string> keys;
      for (const BatchedWrite& write : writes) keys.push_back(write.key);
      items.lock(keys);
      if (!std::ranges::all_of(writes, [&](const BatchedWrite& write) { return items.still_current(write.table); })) {
        items.unlock();
        continue;
      }
      // Read everything before planning anything: a failed read must leave the entry empty.
      std::vector<StoredItemPointer> before;
      for (const BatchedWrite& write : writes) {
        TRY(StoredItemPointer item, items.read(write.key));
        before.push_back(std::move(item));
      }
      store::BatchWriteItemResponse response;
      Consumption consumption(core_, request.report.consumed_capacity, Access::write);
      bool any_written = false;
      store::Answer<void> admitted;
      for (std::size_t i = 0; i < writes.size(); ++i) {
        const BatchedWrite& write = writes[i];
        Change change{write.key, before[i], write.after};
        admitted = admit_write(core_, *write.table, change);
        if (!admitted) {
          add_unprocessed(write, response.unprocessed);
          continue;
        }
        any_written = true;
        const auto effects = items.plan(*write.table, std::move(change), *entry);
        consumption.add_write(*write.table, before[i], write.after, effects);
        if (request.report.item_collection_metrics)
          add_collection_metrics(core_, *write.table, *write.subject, response.item_collection_metrics);
      }
      if (!any_written) TRY_VOID(admitted);
      response.consumed_capacity = std::move(consumption).all();
      return response;
    }
  };
  entry->answer = plan();
  return items.queue(entry) ? Planned::queued : Planned::answered;
}

}  // namespace postino::engine
