#include <algorithm>
#include <set>

#include "engine/collection_metrics.h"
#include "engine/consumption.h"
#include "engine/item_writer.h"
#include "engine/key_rules.h"
#include "engine/keys.h"
#include "engine/locked_items.h"

namespace postino::engine {

namespace {

using store::refuse_invalid;

struct BatchedWrite {
  TablePointer table;
  std::string key;
  const item::Map* subject = nullptr;
  StoredItemPointer after;
};

store::Answer<void> check_batch(const store::BatchWriteItemRequest& request) {
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
    const TablePointer table = core.catalog->find(batch.table_name);
    if (!table) return base::propagate(no_such_table());
    for (const store::BatchWrite& write : batch.writes) {
      TRY(BatchedWrite batched, batched_write(table, write));
      writes.push_back(std::move(batched));
    }
  }
  for (const BatchedWrite& write : writes)
    if (!keys.insert(write.key).second) return refuse_invalid("Provided list of item keys contains duplicates");
  return writes;
}

}  // namespace

Planned ItemWriter::write_batch(const store::BatchWriteItemRequest& request, const BatchEntry& entry) {
  LockedItems items(core_);
  const auto plan = [&]() -> store::Answer<store::BatchWriteItemResponse> {
    TRY_VOID(check_room(core_));
    TRY_VOID(check_batch(request));
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
      Consumption consumption(request.report.consumed_capacity);
      for (std::size_t i = 0; i < writes.size(); ++i) {
        const BatchedWrite& write = writes[i];
        const auto effects = items.plan(*write.table, {write.key, before[i], write.after}, *entry);
        consumption.add_write(*write.table, before[i], write.after, effects);
        if (request.report.item_collection_metrics)
          add_collection_metrics(core_, *write.table, *write.subject, response.item_collection_metrics);
      }
      response.consumed_capacity = std::move(consumption).all();
      return response;
    }
  };
  entry->answer = plan();
  return items.queue(entry) ? Planned::queued : Planned::answered;
}

}  // namespace postino::engine
