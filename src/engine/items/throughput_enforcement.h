// Throughput limits (Options::enforce_throughput). An operation is let in while its table, the global indexes it
// touches, and the partitions in both have anything left; then it takes what it really consumed. Any thread; nothing
// here happens unless the option is set.
#pragma once

#include <string_view>
#include <vector>

#include "engine/catalog/core.h"
#include "engine/catalog/throughput_limits.h"
#include "engine/items/change.h"
#include "store/read_allowance.h"

namespace postino::engine {

// What the functions below do when limits are enforced.
namespace enforcement {
store::Answer<void> admit(const Core& core, const Table& table, const Index* index, Access access,
                          std::string_view stored_key);
store::Answer<void> admit_index_writes(const Core& core, const Table& table, const Change& change);
// What was taken for a read goes back when its allowance (nullptr: none) is exhausted.
void take(const Table& table, const Index* index, Access access, double units, store::ReadAllowance* allowance);
void take_failed_write(const Core& core, const Table& table, std::string_view stored_key, const StoredItemPointer& item,
                       const store::Error& error, double factor);
void take_partition(const Core& core, const Table& table, const Index* index, Access access,
                    std::string_view stored_key, double units);
void take_partition_writes(const Core& core, const Table& table, const Change& change,
                           const std::vector<IndexEffect>& effects, const CommitEntry& entry, double factor);
}  // namespace enforcement

// Fails with DynamoDB's throttling error when there is nothing left. `index` is nullptr for the table itself, and
// `stored_key`, which begins with the partition, is empty for a read of several partitions.
inline store::Answer<void> admit(const Core& core, const Table& table, const Index* index, Access access,
                                 std::string_view stored_key = {}) {
  if (!core.options.enforce_throughput) [[likely]]
    return {};
  return enforcement::admit(core, table, index, access, stored_key);
}

// What a read took from its partition.
inline void take_partition_read(const Core& core, const Table& table, const Index* index, std::string_view stored_key,
                                double units) {
  if (core.options.enforce_throughput) enforcement::take_partition(core, table, index, Access::read, stored_key, units);
}

// What a planned write took from the partitions of the item and of its index entries. The entry is the one it was
// planned into; transactions count double.
inline void take_partition_writes(const Core& core, const Table& table, const Change& change,
                                  const std::vector<IndexEffect>& effects, const CommitEntry& entry,
                                  double factor = 1) {
  if (core.options.enforce_throughput) enforcement::take_partition_writes(core, table, change, effects, entry, factor);
}

// The same for the global indexes that a write changes: one of them is enough to hold the write back.
inline store::Answer<void> admit_index_writes(const Core& core, const Table& table, const Change& change) {
  if (!core.options.enforce_throughput) [[likely]]
    return {};
  return enforcement::admit_index_writes(core, table, change);
}

// A write whose condition failed has read the item, and is charged for it like a write.
inline void take_failed_write(const Core& core, const Table& table, std::string_view stored_key,
                              const StoredItemPointer& item, const store::Error& error, double factor = 1) {
  if (core.options.enforce_throughput) enforcement::take_failed_write(core, table, stored_key, item, error, factor);
}

}  // namespace postino::engine
