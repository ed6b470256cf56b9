// Tells the observer of Options::traffic what requests read and write. Nothing happens here when there is none.
#pragma once

#include <string_view>
#include <vector>

#include "engine/catalog/core.h"
#include "engine/items/change.h"
#include "store/error.h"
#include "store/traffic.h"

namespace postino::engine {

// What the functions below do when there is a watch.
namespace traffic {
void count_read(const Core& core, const Table& table, const Index* index, std::string_view stored_key, double units,
                store::TrafficKind kind);
void count_write(const Core& core, const Table& table, const Change& change, const std::vector<IndexEffect>& effects,
                 const CommitEntry& entry, double factor);
void count_failed_write(const Core& core, const Table& table, std::string_view stored_key,
                        const StoredItemPointer& item, double factor);
void count_backfill(const Core& core, const Table& table, const Index& index, double units);
}  // namespace traffic

// A read of the table (index == nullptr) or of an index. `stored_key` begins with the partition; it is empty for a read
// of several partitions.
inline void count_read(const Core& core, const Table& table, const Index* index, std::string_view stored_key,
                       double units, store::TrafficKind kind = store::TrafficKind::read) {
  if (core.options.traffic != nullptr) traffic::count_read(core, table, index, stored_key, units, kind);
}

// A planned write, with what it did to the indexes. The entry is the one it was planned into; transactions count
// double.
inline void count_write(const Core& core, const Table& table, const Change& change,
                        const std::vector<IndexEffect>& effects, const CommitEntry& entry, double factor = 1) {
  if (core.options.traffic != nullptr) traffic::count_write(core, table, change, effects, entry, factor);
}

// A write that was refused; it counts when its condition failed on this item.
inline void count_failed_write(const Core& core, const Table& table, std::string_view stored_key,
                               const StoredItemPointer& item, const store::Error& error, double factor = 1) {
  if (core.options.traffic != nullptr && error.type == store::ErrorType::conditional_check_failed)
    traffic::count_failed_write(core, table, stored_key, item, factor);
}

// Entries of an index that were made of items which were there before it.
inline void count_backfill(const Core& core, const Table& table, const Index& index, double units) {
  if (core.options.traffic != nullptr) traffic::count_backfill(core, table, index, units);
}

}  // namespace postino::engine
