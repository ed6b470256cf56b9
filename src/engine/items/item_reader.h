// Reads of single items: one, many, or many at one point in time.
#pragma once

#include "engine/catalog/core.h"
#include "store/item_operations.h"
#include "store/transaction.h"

namespace postino::engine {

// Reads see what is on disk: everything acknowledged, nothing that still waits. Any thread.
class ItemReader {
 public:
  explicit ItemReader(const Core& core) : core_(core) {}

  store::Answer<store::GetItemResponse> get(const store::GetItemRequest& request) const;
  store::Answer<store::BatchGetItemResponse> get_batch(const store::BatchGetItemRequest& request) const;
  store::Answer<store::TransactGetItemsResponse> get_transaction(const store::TransactGetItemsRequest& request) const;

 private:
  const Core& core_;
};

}  // namespace postino::engine
