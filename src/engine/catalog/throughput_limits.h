// The throughput limits of tables and global indexes: what was provisioned, or the ceilings of an on-demand table.
#pragma once

#include <optional>

#include "engine/catalog/core.h"

namespace postino::engine {

enum class Access { read, write };

// Whatever has throughput of its own: a table, or one of its global indexes. Local indexes live on their table's.
struct ThroughputOwner {
  const Table& table;
  const Index* index = nullptr;  // nullptr: the table
};

// `index` is nullptr for the table itself.
ThroughputOwner throughput_owner(const Table& table, const Index* index);

// Units per second; none: no limit.
std::optional<double> throughput_limit(const ThroughputOwner& owner, Access access);

ThroughputBucket& bucket_of(ThroughputMeter& meter, Access access);

// What is left of it.
ThroughputBucket& throughput_bucket(const ThroughputOwner& owner, Access access);

// The same of single partition keys: of the table those of its items, of the index those of its entries.
PartitionBuckets& partition_buckets(const ThroughputOwner& owner, Access access);

// Brings the buckets of the table and its indexes up to date. To be called with the old definition just before the
// limits change. Does nothing when limits are not enforced.
void settle_throughput(const Core& core, const Table& table);

}  // namespace postino::engine
