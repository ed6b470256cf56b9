// Operations on what tables were: backups and restores.
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
      member<T, &T::local_indexes, local_index_name>("LocalSecondaryIndexOverride"),
      member<T, &T::throughput>("ProvisionedThroughputOverride"),
      member<T, &T::on_demand>("OnDemandThroughputOverride"),
      member<T, &T::encryption>("SSESpecificationOverride"),
  });
};

struct CreateBackupInput {
  std::optional<std::string> table_name;
  std::optional<std::string> backup_name;
};
template <>
struct Shape<CreateBackupInput> {
  static constexpr std::string_view name = "CreateBackupInput";
  using T = CreateBackupInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::table_name>("TableName"),
      member<T, &T::backup_name>("BackupName"),
  });
};

struct BackupArnInput {
  std::optional<std::string> arn;
};
template <>
struct Shape<BackupArnInput> {
  static constexpr std::string_view name = "DescribeBackupInput";
  using T = BackupArnInput;
  static constexpr auto members = std::to_array<Member<T>>({member<T, &T::arn>("BackupArn")});
};

struct ListBackupsInput {
  std::optional<std::string> table_name;
  std::optional<std::string> type;
  std::optional<base::TimePoint> from;
  std::optional<base::TimePoint> until;
  std::optional<std::string> exclusive_start_arn;
  std::optional<std::int32_t> limit;
};
template <>
struct Shape<ListBackupsInput> {
  static constexpr std::string_view name = "ListBackupsInput";
  using T = ListBackupsInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::table_name>("TableName"),
      member<T, &T::type>("BackupType"),
      member<T, &T::from>("TimeRangeLowerBound"),
      member<T, &T::until>("TimeRangeUpperBound"),
      member<T, &T::exclusive_start_arn>("ExclusiveStartBackupArn"),
      member<T, &T::limit>("Limit"),
  });
};

struct RestoreFromBackupInput : RestoreOverridesInput {
  std::optional<std::string> target_table_name;
  std::optional<std::string> arn;
};
template <>
struct Shape<RestoreFromBackupInput> {
  static constexpr std::string_view name = "RestoreTableFromBackupInput";
  using T = RestoreFromBackupInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::target_table_name>("TargetTableName"),
      member<T, &T::arn>("BackupArn"),
      member<T, &T::billing_mode>("BillingModeOverride"),
      member<T, &T::global_indexes>("GlobalSecondaryIndexOverride"),
      member<T, &T::local_indexes, local_index_name>("LocalSecondaryIndexOverride"),
      member<T, &T::throughput>("ProvisionedThroughputOverride"),
      member<T, &T::on_demand>("OnDemandThroughputOverride"),
      member<T, &T::encryption>("SSESpecificationOverride"),
  });
};

struct CreateBackup {
  static constexpr std::string_view name = "CreateBackup";
  using Input = CreateBackupInput;
  struct Request {
    std::string table_name;
    std::string backup_name;
  };
  using Response = store::BackupSummary;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request.table_name);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

// What is done with one backup.
struct OneBackup {
  using Input = BackupArnInput;
  using Request = std::string;
  using Response = store::BackupDescription;
  static store::Answer<Request> decode(Input input);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct DescribeBackup : OneBackup {
  static constexpr std::string_view name = "DescribeBackup";
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.resource(access::action_named(name), request);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};

struct DeleteBackup : OneBackup {
  static constexpr std::string_view name = "DeleteBackup";
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.resource(access::action_named(name), request);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};

struct ListBackups {
  static constexpr std::string_view name = "ListBackups";
  using Input = ListBackupsInput;
  using Request = store::ListBackupsRequest;
  using Response = store::ListBackupsResponse;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request&) {
    return check.table(access::action_named(name), "*");
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct RestoreTableFromBackup : ChangeTable {
  static constexpr std::string_view name = "RestoreTableFromBackup";
  using Input = RestoreFromBackupInput;
  using Request = store::RestoreFromBackupRequest;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
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
