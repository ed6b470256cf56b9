#include "engine/throughput_enforcement.h"

#include <algorithm>

#include "engine/capacity_units.h"

namespace postino::engine::enforcement {

namespace {

using store::BillingMode;

constexpr std::string_view indexes_exceeded =
    "The level of configured provisioned throughput for one or more global secondary indexes of the table was "
    "exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes with the "
    "UpdateTable API.";
constexpr std::string_view on_demand_exceeded =
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or "
    "index so please try again shortly. If exceptions persist, check if you have a hot key: "
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html";

// A table or a global index: whatever has throughput of its own.
struct Resource {
  const Table& table;
  const Index* index = nullptr;  // nullptr: the table
};

Resource resource_of(const Table& table, const Index* index) {
  return {table, index != nullptr && index->global ? index : nullptr};
}

// Units per second; none: no limit.
std::optional<double> limit_of(const Resource& resource, Access access) {
  const bool reads = access == Access::read;
  if (resource.table.billing_mode == BillingMode::provisioned) {
    const store::Throughput& provisioned =
        (resource.index == nullptr ? resource.table.throughput : resource.index->throughput).provisioned;
    return static_cast<double>(reads ? provisioned.read_units : provisioned.write_units);
  }
  const auto& ceilings = resource.index == nullptr ? resource.table.on_demand : resource.index->on_demand;
  if (!ceilings) return std::nullopt;
  const std::optional<std::int64_t>& ceiling = reads ? ceilings->max_read_units : ceilings->max_write_units;
  return ceiling ? std::optional(static_cast<double>(*ceiling)) : std::nullopt;
}

ThroughputBucket& bucket_of(const Resource& resource, Access access) {
  ThroughputMeter& meter = resource.index == nullptr ? *resource.table.meter : *resource.index->meter;
  return access == Access::read ? meter.reads : meter.writes;
}

bool exhausted(const Resource& resource, Access access, base::TimePoint now) {
  const std::optional<double> limit = limit_of(resource, access);
  return limit && !bucket_of(resource, access).admits(*limit, now);
}

store::ThrottlingReason reason_of(const Core& core, const Resource& resource, Access access) {
  std::string reason = resource.index == nullptr ? "Table" : "Index";
  reason += access == Access::read ? "Read" : "Write";
  reason += resource.table.billing_mode == BillingMode::provisioned ? "ProvisionedThroughputExceeded"
                                                                    : "MaxOnDemandThroughputExceeded";
  return {std::move(reason), resource.index == nullptr ? core.table_arn(resource.table.name)
                                                       : core.index_arn(resource.table.name, resource.index->name)};
}

store::Error throttled(const Core& core, const std::vector<Resource>& resources, Access access) {
  const Resource& first = resources.front();
  const bool provisioned = first.table.billing_mode == BillingMode::provisioned;
  store::Error error(provisioned ? store::ErrorType::provisioned_throughput_exceeded : store::ErrorType::throttling,
                     std::string(!provisioned             ? on_demand_exceeded
                                 : first.index == nullptr ? store::table_throughput_exceeded
                                                          : indexes_exceeded));
  auto details = std::make_shared<store::ErrorDetails>();
  for (const Resource& resource : resources) details->throttling_reasons.push_back(reason_of(core, resource, access));
  error.details = std::move(details);
  return error;
}

}  // namespace

store::Answer<void> admit(const Core& core, const Table& table, const Index* index, Access access) {
  const Resource resource = resource_of(table, index);
  if (!exhausted(resource, access, core.now())) return {};
  return base::propagate(throttled(core, {resource}, access));
}

store::Answer<void> admit_index_writes(const Core& core, const Table& table, const Change& change) {
  if (std::ranges::none_of(table.indexes, &Index::global)) return {};
  const base::TimePoint now = core.now();
  std::vector<Resource> all;
  for (const IndexEffect& effect : index_effects(table, change)) {
    const Resource resource = resource_of(table, effect.index);
    if (resource.index != nullptr && exhausted(resource, Access::write, now)) all.push_back(resource);
  }
  if (all.empty()) return {};
  return base::propagate(throttled(core, all, Access::write));
}

void take(const Table& table, const Index* index, Access access, double units) {
  const Resource resource = resource_of(table, index);
  if (limit_of(resource, access)) bucket_of(resource, access).take(units);
}

void take_failed_write(const Table& table, const StoredItemPointer& item, const store::Error& error, double factor) {
  if (error.type != store::ErrorType::conditional_check_failed) return;
  take(table, nullptr, Access::write, factor * write_units(item ? item->size : 0));
}

void settle(const Table& table, base::TimePoint now) {
  for (const Access access : {Access::read, Access::write}) {
    const Resource whole = resource_of(table, nullptr);
    bucket_of(whole, access).settle(limit_of(whole, access), now);
    for (const Index& index : table.indexes) {
      if (!index.global) continue;
      const Resource resource = resource_of(table, &index);
      bucket_of(resource, access).settle(limit_of(resource, access), now);
    }
  }
}

}  // namespace postino::engine::enforcement
