// The size of an item collection, for tables with local indexes.
#pragma once

#include <optional>

#include "engine/catalog/core.h"
#include "engine/items/change.h"
#include "store/item_operations.h"

namespace postino::engine {

// An estimate from the database's own bookkeeping; nothing for tables without local indexes.
std::optional<store::ItemCollectionMetrics> collection_metrics(const Core& core, const Table& table,
                                                               const item::Map& item);

// Refuses a change that lets an item grow in a collection which is as large as DynamoDB allows. Like the metrics it is
// an estimate.
store::Answer<void> check_collection_size(const Core& core, const Table& table, const item::Map& item,
                                          const Change& change);

// Adds them to a batch's list, once per collection.
void add_collection_metrics(const Core& core, const Table& table, const item::Map& item,
                            std::vector<store::BatchWriteItemResponse::TableMetrics>& tables);

}  // namespace postino::engine
