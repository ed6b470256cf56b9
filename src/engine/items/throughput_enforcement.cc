#include "engine/items/throughput_enforcement.h"

#include <algorithm>

#include "engine/catalog/item_keys.h"
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

bool exhausted_partition(const ThroughputOwner& owner, Access access, std::string_view stored_key,
                         base::TimePoint now) {
  return !stored_key.empty() && !partition_buckets(owner, access).admits(partition_of(stored_key).hash, now);
}

// What ran out: the throughput of the whole table or index, or that of one partition.
enum class Scope { whole, partition };

store::ThrottlingReason reason_of(const Core& core, const ThroughputOwner& owner, Access access, Scope scope) {
  std::string reason = owner.index == nullptr ? "Table" : "Index";
  reason += access == Access::read ? "Read" : "Write";
  reason += scope == Scope::partition                              ? "KeyRangeThroughputExceeded"
            : owner.table.billing_mode == BillingMode::provisioned ? "ProvisionedThroughputExceeded"
                                                                   : "MaxOnDemandThroughputExceeded";
  return {std::move(reason), owner.index == nullptr ? core.table_arn(owner.table.name)
                                                    : core.index_arn(owner.table.name, owner.index->name)};
}

struct Shortage {
  ThroughputOwner owner;
  Scope scope = Scope::whole;
};

store::Error throttled(const Core& core, const std::vector<Shortage>& shortages, Access access) {
  const ThroughputOwner& first = shortages.front().owner;
  const bool provisioned = first.table.billing_mode == BillingMode::provisioned;
  store::Error error(provisioned ? store::ErrorType::provisioned_throughput_exceeded : store::ErrorType::throttling,
                     std::string(!provisioned             ? on_demand_exceeded
                                 : first.index == nullptr ? store::table_throughput_exceeded
                                                          : indexes_exceeded));
  auto details = std::make_shared<store::ErrorDetails>();
  for (const auto& [owner, scope] : shortages)
    details->throttling_reasons.push_back(reason_of(core, owner, access, scope));
  error.details = std::move(details);
  return error;
}

}  // namespace

store::Answer<void> admit(const Core& core, const Table& table, const Index* index, Access access,
                          std::string_view stored_key) {
  const ThroughputOwner owner = throughput_owner(table, index);
  const base::TimePoint now = core.now();
  if (exhausted(owner, access, now)) return base::propagate(throttled(core, {{owner, Scope::whole}}, access));
  if (!exhausted_partition(owner, access, stored_key, now)) return {};
  return base::propagate(throttled(core, {{owner, Scope::partition}}, access));
}

store::Answer<void> admit_index_writes(const Core& core, const Table& table, const Change& change) {
  if (std::ranges::none_of(table.indexes, &Index::global)) return {};
  const base::TimePoint now = core.now();
  std::vector<Shortage> all;
  CommitEntry planned;
  for (const IndexEffect& effect : index_effects(table, change, planned)) {
    const ThroughputOwner owner = throughput_owner(table, effect.index);
    if (owner.index == nullptr) continue;
    const auto short_of_partition = [&](const IndexPart& part) {
      return exhausted_partition(owner, Access::write, part.stored_key, now);
    };
    if (exhausted(owner, Access::write, now))
      all.push_back({owner, Scope::whole});
    else if (std::ranges::any_of(parts_of(effect, planned), short_of_partition))
      all.push_back({owner, Scope::partition});
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

void take_failed_write(const Core& core, const Table& table, std::string_view stored_key, const StoredItemPointer& item,
                       const store::Error& error, double factor) {
  if (error.type != store::ErrorType::conditional_check_failed) return;
  const double units = factor * write_units(item ? item->size : 0);
  take(table, nullptr, Access::write, units, nullptr);
  take_partition(core, table, nullptr, Access::write, stored_key, units);
}

void take_partition(const Core& core, const Table& table, const Index* index, Access access,
                    std::string_view stored_key, double units) {
  if (stored_key.empty()) return;
  partition_buckets(throughput_owner(table, index), access).take(partition_of(stored_key).hash, units, core.now());
}

void take_partition_writes(const Core& core, const Table& table, const Change& change,
                           const std::vector<IndexEffect>& effects, const CommitEntry& entry, double factor) {
  const std::size_t before = change.before ? change.before->size : 0;
  const std::size_t after = change.after ? change.after->size : 0;
  double units = write_units(std::max(before, after));
  for (const IndexEffect& effect : effects) {
    if (!effect.index->global) units += effect.write_units;  // local entries are in the partition of their items
    if (!effect.index->global) continue;
    for (const IndexPart& part : parts_of(effect, entry))
      take_partition(core, table, effect.index, Access::write, part.stored_key, factor * part.units);
  }
  take_partition(core, table, nullptr, Access::write, change.key, factor * units);
}

}  // namespace postino::engine::enforcement
