// Throughput limits (Options::enforce_throughput). An operation is let in while its table, and the global indexes it
// touches, have anything left; then it takes what it really consumed. Limits are what was provisioned, or the ceilings
// of an on-demand table; local indexes live on their table's. Any thread; nothing here happens unless the option is
// set.
#pragma once

#include <vector>

#include "engine/change.h"
#include "engine/core.h"

namespace postino::engine {

enum class Access { read, write };

// What the functions below do when limits are enforced.
namespace enforcement {
store::Answer<void> admit(const Core& core, const Table& table, const Index* index, Access access);
store::Answer<void> admit_index_writes(const Core& core, const Table& table, const Change& change);
void take(const Table& table, const Index* index, Access access, double units);
void take_failed_write(const Table& table, const StoredItemPointer& item, const store::Error& error, double factor);
void settle(const Table& table, base::TimePoint now);
}  // namespace enforcement

// Fails with DynamoDB's throttling error when there is nothing left. `index` is nullptr for the table itself.
inline store::Answer<void> admit(const Core& core, const Table& table, const Index* index, Access access) {
  if (!core.options.enforce_throughput) [[likely]]
    return {};
  return enforcement::admit(core, table, index, access);
}

// The same for the global indexes that a write changes: one of them is enough to hold the write back.
inline store::Answer<void> admit_index_writes(const Core& core, const Table& table, const Change& change) {
  if (!core.options.enforce_throughput) [[likely]]
    return {};
  return enforcement::admit_index_writes(core, table, change);
}

// A write whose condition failed has read the item, and is charged for it like a write.
inline void take_failed_write(const Core& core, const Table& table, const StoredItemPointer& item,
                              const store::Error& error, double factor = 1) {
  if (core.options.enforce_throughput) enforcement::take_failed_write(table, item, error, factor);
}

// To be called with the old definition just before a table's limits change.
inline void settle_throughput(const Core& core, const Table& table) {
  if (core.options.enforce_throughput) enforcement::settle(table, core.now());
}

}  // namespace postino::engine
