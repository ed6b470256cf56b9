#include "engine/catalog/throughput_limits.h"

namespace postino::engine {

ThroughputOwner throughput_owner(const Table& table, const Index* index) {
  return {table, index != nullptr && index->global ? index : nullptr};
}

std::optional<double> throughput_limit(const ThroughputOwner& owner, Access access) {
  const bool reads = access == Access::read;
  if (owner.table.billing_mode == store::BillingMode::provisioned) {
    const store::Throughput& provisioned =
        (owner.index == nullptr ? owner.table.throughput : owner.index->throughput).provisioned;
    return static_cast<double>(reads ? provisioned.read_units : provisioned.write_units);
  }
  const auto& ceilings = owner.index == nullptr ? owner.table.on_demand : owner.index->on_demand;
  if (!ceilings) return std::nullopt;
  const std::optional<std::int64_t>& ceiling = reads ? ceilings->max_read_units : ceilings->max_write_units;
  return ceiling ? std::optional(static_cast<double>(*ceiling)) : std::nullopt;
}

ThroughputBucket& bucket_of(ThroughputMeter& meter, Access access) {
  return access == Access::read ? meter.reads : meter.writes;
}

ThroughputBucket& throughput_bucket(const ThroughputOwner& owner, Access access) {
  return bucket_of(owner.index == nullptr ? *owner.table.meter : *owner.index->meter, access);
}

PartitionBuckets& partition_buckets(const ThroughputOwner& owner, Access access) {
  ThroughputMeter& meter = owner.index == nullptr ? *owner.table.meter : *owner.index->meter;
  return access == Access::read ? meter.partition_reads : meter.partition_writes;
}

void settle_throughput(const Core& core, const Table& table) {
  if (!core.options.enforce_throughput) return;
  const auto settle = [now = core.now()](const ThroughputOwner& owner) {
    for (const Access access : {Access::read, Access::write})
      throughput_bucket(owner, access).settle(throughput_limit(owner, access), now);
  };
  settle(throughput_owner(table, nullptr));
  for (const Index& index : table.indexes)
    if (index.global) settle(throughput_owner(table, &index));
}

}  // namespace postino::engine
