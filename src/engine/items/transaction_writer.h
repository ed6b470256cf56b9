// TransactWriteItems: all actions or none, serializable with every other write.
#pragma once

#include "engine/catalog/core.h"
#include "engine/items/answering_entry.h"
#include "engine/items/item_write.h"
#include "engine/items/locked_items.h"
#include "engine/items/throughput_enforcement.h"
#include "store/transaction.h"

namespace postino::engine {

class TransactionWriter {
 public:
  explicit TransactionWriter(Core& core) : core_(core) {}

  using Entry = std::shared_ptr<AnsweringEntry<store::TransactWriteItemsResponse>>;
  // Plans the request into the entry, as answering_entry.h describes. Any thread.
  Planned write(const store::TransactWriteItemsRequest& request, const Entry& entry);

 private:
  using Response = store::Answer<store::TransactWriteItemsResponse>;

  Response plan(const store::TransactWriteItemsRequest& request, LockedItems& items, CommitEntry& entry);
  static store::Answer<std::vector<ItemWrite>> prepare_all(const store::TransactWriteItemsRequest& request);
  store::Answer<void> locate_all(std::vector<ItemWrite>& writes) const;
  // A finished transaction with the same token: nothing is written again, the items count as read.
  store::Answer<std::optional<store::TransactWriteItemsResponse>> replay(
      const store::TransactWriteItemsRequest& request, const std::vector<ItemWrite>& writes, LockedItems& items) const;
  // Cancel the transaction when a table, or an index that a change reaches, has no throughput left.
  store::Answer<void> admit_all(const std::vector<ItemWrite>& writes, Access access) const;
  store::Answer<void> admit_index_changes(const std::vector<ItemWrite>& writes,
                                          const std::vector<Change>& changes) const;
  store::Answer<std::vector<Change>> decide_all(const std::vector<ItemWrite>& writes, LockedItems& items) const;

  Core& core_;
};

}  // namespace postino::engine
