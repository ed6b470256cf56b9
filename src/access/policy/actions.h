// What can be done with DynamoDB, as policies name it: "dynamodb:GetItem".
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace postino::access {

inline constexpr std::string_view service_prefix = "dynamodb:";

// All actions that IAM knows of DynamoDB, also those that have no operation here: policies are written for AWS as well.
inline constexpr auto action_names = std::to_array<std::string_view>({
    "AssociateTableReplica",
    "BatchGetItem",
    "BatchWriteItem",
    "ConditionCheckItem",
    "CreateBackup",
    "CreateGlobalTable",
    "CreateGlobalTableWitness",
    "CreateTable",
    "CreateTableReplica",
    "DeleteBackup",
    "DeleteGlobalTableWitness",
    "DeleteItem",
    "DeleteResourcePolicy",
    "DeleteTable",
    "DeleteTableReplica",
    "DescribeBackup",
    "DescribeContinuousBackups",
    "DescribeContributorInsights",
    "DescribeEndpoints",
    "DescribeExport",
    "DescribeGlobalTable",
    "DescribeGlobalTableSettings",
    "DescribeImport",
    "DescribeKinesisStreamingDestination",
    "DescribeLimits",
    "DescribeReservedCapacity",
    "DescribeReservedCapacityOfferings",
    "DescribeStream",
    "DescribeTable",
    "DescribeTableReplicaAutoScaling",
    "DescribeTimeToLive",
    "DisableKinesisStreamingDestination",
    "EnableKinesisStreamingDestination",
    "ExportTableToPointInTime",
    "GetAbacStatus",
    "GetItem",
    "GetRecords",
    "GetResourcePolicy",
    "GetShardIterator",
    "ImportTable",
    "InjectError",
    "ListBackups",
    "ListContributorInsights",
    "ListExports",
    "ListGlobalTables",
    "ListImports",
    "ListStreams",
    "ListTables",
    "ListTagsOfResource",
    "PartiQLDelete",
    "PartiQLInsert",
    "PartiQLSelect",
    "PartiQLUpdate",
    "PurchaseReservedCapacityOfferings",
    "PutItem",
    "PutResourcePolicy",
    "Query",
    "ReadDataForReplication",
    "ReplicateSettings",
    "RestoreTableFromAwsBackup",
    "RestoreTableFromBackup",
    "RestoreTableToPointInTime",
    "Scan",
    "StartAwsBackupJob",
    "TagResource",
    "UntagResource",
    "UpdateAbacStatus",
    "UpdateContinuousBackups",
    "UpdateContributorInsights",
    "UpdateGlobalTable",
    "UpdateGlobalTableSettings",
    "UpdateGlobalTableVersion",
    "UpdateItem",
    "UpdateKinesisStreamingDestination",
    "UpdateTable",
    "UpdateTableReplicaAutoScaling",
    "UpdateTimeToLive",
    "WriteDataForReplication",
});

// One of them.
struct Action {
  std::uint8_t number = 0;

  constexpr std::string_view name() const { return action_names.at(number); }
  friend constexpr bool operator==(Action, Action) = default;
};

using ActionSet = std::bitset<action_names.size()>;

// For constants alone: a name that is none does not compile.
constexpr std::uint8_t action_number(std::string_view name) {
  const auto found = std::ranges::find(action_names, name);
  if (found == action_names.end()) throw "no such action";
  return static_cast<std::uint8_t>(found - action_names.begin());
}
consteval Action action_named(std::string_view name) { return {action_number(name)}; }

// "GetItem" or "dynamodb:GetItem", in any case.
std::optional<Action> find_action(std::string_view name);

// The actions of DynamoDB that an element of a policy names: "dynamodb:Get*". Those of other services are none.
// nullopt when it is no action at all, or when DynamoDB has none that it could mean.
std::optional<ActionSet> actions_matching(std::string_view pattern);

}  // namespace postino::access
