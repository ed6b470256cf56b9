// Operations on what tables were: restores.
#pragma once

#include "wire/operations/table_operations.h"

namespace postino::wire {

struct RestoreToPointInTimeInput : RestoreOverridesInput {
  std::optional<std::string> source_table_name;
  std::optional<std::string> source_table_arn;
  std::optional<std::string> target_table_name;
  std::optional<bool> use_latest_time;
  std::optional<base::TimePoint> time;
};
template <>
struct Shape<RestoreToPointInTimeInput> {
  static constexpr std::string_view name = "RestoreTableToPointInTimeInput";
  using T = RestoreToPointInTimeInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::source_table_name>("SourceTableName"),
      member<T, &T::source_table_arn>("SourceTableArn"),
      member<T, &T::target_table_name>("TargetTableName"),
      member<T, &T::use_latest_time>("UseLatestRestorableTime"),
      member<T, &T::time>("RestoreDateTime"),
      member<T, &T::billing_mode>("BillingModeOverride"),
      member<T, &T::global_indexes>("GlobalSecondaryIndexOverride"),
      member<T, &T::local_indexes>("LocalSecondaryIndexOverride"),
      member<T, &T::throughput>("ProvisionedThroughputOverride"),
      member<T, &T::on_demand>("OnDemandThroughputOverride"),
      member<T, &T::encryption>("SSESpecificationOverride"),
  });
};

struct RestoreTableToPointInTime : ChangeTable {
  static constexpr std::string_view name = "RestoreTableToPointInTime";
  using Input = RestoreToPointInTimeInput;
  using Request = store::RestoreToPointInTimeRequest;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};

}  // namespace postino::wire
