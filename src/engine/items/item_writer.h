// Puts, updates, deletes and batches of them.
#pragma once

#include "engine/catalog/core.h"
#include "engine/items/answering_entry.h"
#include "engine/items/change.h"
#include "engine/items/item_write.h"
#include "engine/items/locked_items.h"

namespace postino::engine {

// Each function plans one request into the entry, as answering_entry.h describes. Any thread.
class ItemWriter {
 public:
  explicit ItemWriter(Core& core) : core_(core) {}

  using ItemEntry = std::shared_ptr<AnsweringEntry<store::WriteItemResponse>>;
  Planned put(const store::PutItemRequest& request, const ItemEntry& entry);
  Planned update(const store::UpdateItemRequest& request, const ItemEntry& entry);
  Planned remove(const store::DeleteItemRequest& request, const ItemEntry& entry);

  using BatchEntry = std::shared_ptr<AnsweringEntry<store::BatchWriteItemResponse>>;
  Planned write_batch(const store::BatchWriteItemRequest& request, const BatchEntry& entry);

 private:
  template <class Request>
  Planned write(const Request& request, const ItemEntry& entry);
  Planned write(ItemWrite& write, store::ReturnValues return_values, const store::WriteReport& report,
                const ItemEntry& entry);
  store::Answer<store::WriteItemResponse> respond(const ItemWrite& write, const Change& change,
                                                  const std::vector<IndexEffect>& effects,
                                                  store::ReturnValues return_values, const store::WriteReport& report);

  store::Answer<store::BatchWriteItemResponse> plan_batch(const store::BatchWriteItemRequest& request,
                                                          LockedItems& items, CommitEntry& entry);

  Core& core_;
};

}  // namespace postino::engine
