#include "engine/items/throughput_enforcement.h"

#include <algorithm>

#include "engine/items/capacity_units.h"

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

bool exhausted(const ThroughputOwner& owner, Access access, base::TimePoint now) {
  const std::optional<double> limit = throughput_limit(owner, access);
  return limit && !throughput_bucket(owner, access).admits(*limit, now);
}

store::ThrottlingReason reason_of(const Core& core, const ThroughputOwner& owner, Access access) {
  std::string reason = owner.index == nullptr ? "Table" : "Index";
  reason += access == Access::read ? "Read" : "Write";
  reason += owner.table.billing_mode == BillingMode::provisioned ? "ProvisionedThroughputExceeded"
                                                                 : "MaxOnDemandThroughputExceeded";
  return {std::move(reason), owner.index == nullptr ? core.table_arn(owner.table.name)
                                                    : core.index_arn(owner.table.name, owner.index->name)};
}

store::Error throttled(const Core& core, const std::vector<ThroughputOwner>& owners, Access access) {
  const ThroughputOwner& first = owners.front();
  const bool provisioned = first.table.billing_mode == BillingMode::provisioned;
  store::Error error(provisioned ? store::ErrorType::provisioned_throughput_exceeded : store::ErrorType::throttling,
                     std::string(!provisioned             ? on_demand_exceeded
                                 : first.index == nullptr ? store::table_throughput_exceeded
                                                          : indexes_exceeded));
  auto details = std::make_shared<store::ErrorDetails>();
  for (const ThroughputOwner& owner : owners) details->throttling_reasons.push_back(reason_of(core, owner, access));
  error.details = std::move(details);
  return error;
}

}  // namespace

store::Answer<void> admit(const Core& core, const Table& table, const Index* index, Access access) {
  const ThroughputOwner owner = throughput_owner(table, index);
  if (!exhausted(owner, access, core.now())) return {};
  return base::propagate(throttled(core, {owner}, access));
}

store::Answer<void> admit_index_writes(const Core& core, const Table& table, const Change& change) {
  if (std::ranges::none_of(table.indexes, &Index::global)) return {};
  const base::TimePoint now = core.now();
  std::vector<ThroughputOwner> all;
  for (const IndexEffect& effect : index_effects(table, change)) {
    const ThroughputOwner owner = throughput_owner(table, effect.index);
    if (owner.index != nullptr && exhausted(owner, Access::write, now)) all.push_back(owner);
  }
  if (all.empty()) return {};
  return base::propagate(throttled(core, all, Access::write));
}

void take(const Table& table, const Index* index, Access access, double units, store::ReadAllowance* allowance) {
  const ThroughputOwner owner = throughput_owner(table, index);
  if (!throughput_limit(owner, access)) return;
  throughput_bucket(owner, access).take(units);
  if (allowance == nullptr) return;
  const auto meter = owner.index == nullptr ? owner.table.meter : owner.index->meter;
  allowance->undo_if_exhausted([meter, access, units] { bucket_of(*meter, access).take(-units); });
}

void take_failed_write(const Table& table, const StoredItemPointer& item, const store::Error& error, double factor) {
  if (error.type != store::ErrorType::conditional_check_failed) return;
  take(table, nullptr, Access::write, factor * write_units(item ? item->size : 0), nullptr);
}

}  // namespace postino::engine::enforcement
