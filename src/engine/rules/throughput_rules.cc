#include "engine/rules/throughput_rules.h"

namespace postino::engine {

namespace {

using store::BillingMode;

constexpr std::int64_t capacity_bound = 1'000'000'000'000;
constexpr std::string_view neither_units =
    "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST";
constexpr std::string_view below_initial =
    " is lower than initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/"
    "developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial";

store::Answer<void> check_bound(std::int64_t units, std::string_view name) {
  if (units > capacity_bound)
    return store::refuse_invalid("Given value " + std::to_string(units) + " for " + std::string(name) +
                                 " is out of bounds");
  return {};
}

// Ceilings of a new table or index: a ceiling is a positive number.
store::Answer<void> check_new_ceiling(const std::optional<std::int64_t>& units, const std::string& name,
                                      BillingMode billing_mode, const std::string& index_name) {
  if (!units) return {};
  const std::string ceiling = name + " for OnDemandThroughput";
  if (billing_mode == BillingMode::provisioned)
    return store::refuse_parameter(ceiling + (index_name.empty() ? "" : " for index: " + index_name) +
                                   " cannot be specified when table BillingMode is PROVISIONED.");
  if (*units < 1)
    return store::refuse_parameter("Requested " + ceiling + " for " +
                                   (index_name.empty() ? "table" : "index : " + index_name) +
                                   " is outside of valid range");
  return {};
}

store::Answer<void> check_new_ceilings(const std::optional<store::OnDemandThroughput>& ceilings,
                                       BillingMode billing_mode, const std::string& index_name) {
  if (!ceilings) return {};
  TRY_VOID(check_new_ceiling(ceilings->max_read_units, "MaxReadRequestUnits", billing_mode, index_name));
  return check_new_ceiling(ceilings->max_write_units, "MaxWriteRequestUnits", billing_mode, index_name);
}

std::string warm_text(std::string_view member, const std::string& index_name) {
  return "Requested " + std::string(member) + " for WarmThroughput for " +
         (index_name.empty() ? "table" : "index " + index_name);
}

// Warm throughput of a new table or index starts at what its billing mode gives it anyway.
store::Answer<void> check_new_warm(const std::optional<store::Throughput>& warm, BillingMode billing_mode,
                                   const std::optional<store::Throughput>& provisioned, const std::string& index_name) {
  if (!warm) return {};
  const bool on_demand = billing_mode == BillingMode::pay_per_request;
  const store::Throughput floor = on_demand ? initial_on_demand : provisioned.value_or(store::Throughput{});
  const auto reason = [&](std::string_view units) {
    return on_demand ? std::string(below_initial)
                     : " is lower than " + std::string(units) + " of ProvisionedThroughput";
  };
  if (warm->read_units != 0 && warm->read_units < floor.read_units)
    return store::refuse_parameter(warm_text("ReadUnitsPerSecond", index_name) + reason("ReadCapacityUnits"));
  if (warm->write_units != 0 && warm->write_units < floor.write_units)
    return store::refuse_parameter(warm_text("WriteUnitsPerSecond", index_name) + reason("WriteCapacityUnits"));
  return {};
}

store::Answer<void> check_ceiling_change(const std::optional<std::int64_t>& units, const std::string& name,
                                         BillingMode billing_mode, const std::string& index_name) {
  constexpr std::int64_t no_ceiling = -1;
  if (!units) return {};
  if (billing_mode == BillingMode::provisioned)
    return store::refuse_parameter(name + " for OnDemandThroughput" +
                                   (index_name.empty() ? "" : " for index : " + index_name) +
                                   " cannot be specified when the table BillingMode is PROVISIONED");
  if (*units == no_ceiling) return {};
  return check_new_ceiling(units, name, billing_mode, index_name);
}

}  // namespace

void constrain_throughput(store::Constraints& constraints, const std::string& path,
                          const store::Throughput& throughput) {
  constraints.check_at_least(path + ".writeCapacityUnits", throughput.write_units, 1);
  constraints.check_at_least(path + ".readCapacityUnits", throughput.read_units, 1);
}

store::Answer<void> check_bounds(const store::Throughput& throughput) {
  TRY_VOID(check_bound(throughput.read_units, "ReadCapacityUnits"));
  return check_bound(throughput.write_units, "WriteCapacityUnits");
}

store::Answer<void> check_new_table_throughput(const store::CreateTableRequest& request) {
  const BillingMode billing_mode = request.billing_mode.value_or(BillingMode::provisioned);
  if (billing_mode == BillingMode::pay_per_request) {
    if (request.throughput) return store::refuse_parameter(neither_units);
  } else {
    if (!request.throughput)
      return store::refuse_parameter(
          "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED");
    TRY_VOID(check_bounds(*request.throughput));
  }
  TRY_VOID(check_new_ceilings(request.on_demand, billing_mode, ""));
  return check_new_warm(request.warm, billing_mode, request.throughput, "");
}

store::Answer<void> check_new_table_index_throughput(const store::GlobalIndexDefinition& index,
                                                     BillingMode billing_mode) {
  if (billing_mode == BillingMode::pay_per_request) {
    if (index.throughput)
      return store::refuse_parameter("ProvisionedThroughput should not be specified for index: " + index.name +
                                     " when BillingMode is PAY_PER_REQUEST");
  } else {
    if (!index.throughput)
      return store::refuse_parameter("ProvisionedThroughput is not specified for index: " + index.name);
    TRY_VOID(check_bounds(*index.throughput));
  }
  TRY_VOID(check_new_ceilings(index.on_demand, billing_mode, index.name));
  return check_new_warm(index.warm, billing_mode, index.throughput, index.name);
}

store::Answer<void> check_added_index_throughput(const store::GlobalIndexDefinition& index, BillingMode billing_mode) {
  if (billing_mode == BillingMode::pay_per_request) {
    if (index.throughput)
      return store::refuse_parameter("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: " +
                                     index.name + " when BillingMode is PAY_PER_REQUEST");
  } else {
    if (!index.throughput)
      return store::refuse_parameter("Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: " +
                                     index.name);
    TRY_VOID(check_bounds(*index.throughput));
  }
  TRY_VOID(check_new_ceilings(index.on_demand, billing_mode, index.name));
  return check_new_warm(index.warm, billing_mode, index.throughput, index.name);
}

store::Answer<void> check_on_demand_change(const store::OnDemandThroughput& ceilings, BillingMode billing_mode,
                                           const std::string& index_name) {
  TRY_VOID(check_ceiling_change(ceilings.max_read_units, "MaxReadRequestUnits", billing_mode, index_name));
  return check_ceiling_change(ceilings.max_write_units, "MaxWriteRequestUnits", billing_mode, index_name);
}

store::Answer<void> check_warm_change(const store::Throughput& wanted, const store::Throughput& current,
                                      const std::string& index_name) {
  constexpr std::string_view lower =
      " is lower than current WarmThroughput, decreasing WarmThroughput is not supported";
  if (wanted.read_units != 0 && wanted.read_units < current.read_units)
    return store::refuse_parameter(warm_text("ReadUnitsPerSecond", index_name) + std::string(lower));
  if (wanted.write_units != 0 && wanted.write_units < current.write_units)
    return store::refuse_parameter(warm_text("WriteUnitsPerSecond", index_name) + std::string(lower));
  return {};
}

}  // namespace postino::engine
