// Requests and answers of the control plane.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "store/table.h"

namespace postino::store {

struct CreateTableRequest {
  std::string table_name;
  std::vector<AttributeDefinition> attribute_definitions;
  KeySchema key_schema;
  std::optional<std::vector<LocalIndexDefinition>> local_indexes;
  std::optional<std::vector<GlobalIndexDefinition>> global_indexes;
  std::optional<BillingMode> billing_mode;  // provisioned when absent
  std::optional<Throughput> throughput;
  std::optional<OnDemandThroughput> on_demand;
  std::optional<Throughput> warm;
  std::optional<StreamSpecification> stream;
  std::optional<EncryptionSpecification> encryption;
  std::optional<TableClass> table_class;
  bool deletion_protection = false;
  std::vector<Tag> tags;
  std::optional<std::string> resource_policy;
};

struct CreateGlobalIndex {
  GlobalIndexDefinition definition;
};
struct UpdateGlobalIndex {
  std::string name;
  std::optional<Throughput> throughput;
  std::optional<OnDemandThroughput> on_demand;
  std::optional<Throughput> warm;
};
struct DeleteGlobalIndex {
  std::string name;
};
using GlobalIndexUpdate = std::variant<CreateGlobalIndex, UpdateGlobalIndex, DeleteGlobalIndex>;

struct UpdateTableRequest {
  std::string table_name;
  std::vector<AttributeDefinition> attribute_definitions;
  std::optional<BillingMode> billing_mode;
  std::optional<Throughput> throughput;
  std::optional<OnDemandThroughput> on_demand;
  std::optional<Throughput> warm;
  std::vector<GlobalIndexUpdate> global_index_updates;
  std::optional<StreamSpecification> stream;
  std::optional<EncryptionSpecification> encryption;
  std::optional<TableClass> table_class;
  std::optional<bool> deletion_protection;
};

struct ListTablesRequest {
  std::optional<std::string> exclusive_start_table_name;
  std::optional<int> limit;  // 1 to 100, which is the default
};
struct ListTablesResponse {
  std::vector<std::string> table_names;
  std::optional<std::string> last_evaluated_table_name;
};

struct TimeToLiveSpecification {
  std::string attribute_name;
  bool enabled = false;
};
enum class TimeToLiveStatus { enabling, enabled, disabling, disabled };
struct TimeToLiveDescription {
  TimeToLiveStatus status = TimeToLiveStatus::disabled;
  std::optional<std::string> attribute_name;
};

struct PointInTimeRecoveryDescription {
  bool enabled = false;
  int recovery_period_days = 35;
  std::optional<base::TimePoint> earliest_restorable;
  std::optional<base::TimePoint> latest_restorable;
};
struct PointInTimeRecoverySpecification {
  bool enabled = false;
  std::optional<int> recovery_period_days;
};

// What a restored table has otherwise than its source: absent members are taken from there.
struct RestoreOverrides {
  std::optional<BillingMode> billing_mode;
  std::optional<Throughput> throughput;
  std::optional<OnDemandThroughput> on_demand;
  std::optional<std::vector<LocalIndexDefinition>> local_indexes;    // some of the source's, or none
  std::optional<std::vector<GlobalIndexDefinition>> global_indexes;  // likewise
  std::optional<EncryptionSpecification> encryption;
};

// Makes a new table with the items that a table with point-in-time recovery had: exactly as the last commit of the
// second left them that `time` is in, or of the last one that can be restored.
struct RestoreToPointInTimeRequest {
  std::optional<std::string> source_table_name;
  std::optional<std::string> source_table_arn;  // instead of the name
  std::string target_table_name;
  std::optional<base::TimePoint> time;
  bool use_latest_time = false;
  RestoreOverrides overrides;
};

// An image of a table as one commit left it. The user asked for it, or the system kept it of a table that was deleted.
enum class BackupType { user, system };
enum class BackupStatus { creating, available, deleted };
struct BackupSummary {
  std::string arn;
  std::string name;
  BackupType type = BackupType::user;
  BackupStatus status = BackupStatus::creating;
  base::TimePoint created;
  std::optional<base::TimePoint> expires;
  std::int64_t size_bytes = 0;
  // Of its table, which may be gone.
  std::string table_name;
  std::string table_arn;
  std::string table_id;
};
struct BackupDescription {
  BackupSummary backup;
  TableDescription table;  // as it was
  std::optional<std::string> time_to_live_attribute;
};

struct ListBackupsRequest {
  std::optional<std::string> table_name;
  std::optional<BackupType> type = BackupType::user;  // nullopt: of any
  std::optional<base::TimePoint> from;                // when they were made
  std::optional<base::TimePoint> until;               // exclusive
  std::optional<std::string> exclusive_start_arn;
  std::optional<int> limit;  // 1 to 100, which is the default
};
struct ListBackupsResponse {
  std::vector<BackupSummary> backups;  // in the order in which they were made
  std::optional<std::string> last_evaluated_arn;
};

struct RestoreFromBackupRequest {
  std::string backup_arn;
  std::string target_table_name;
  RestoreOverrides overrides;
};

// A table with point-in-time recovery, as an export knows it, and the time that it is read as of.
struct PastTable {
  std::string name;
  std::string arn;
  std::string id;
  std::vector<std::string> key_attributes;
  base::TimePoint time;  // a whole second
};
// Some of the items of a table, or of what became of them.
struct ItemPortion {
  std::vector<item::Item> items;  // possibly none although there are more
  std::int64_t bytes = 0;         // as DynamoDB counts them
  bool is_last = false;
};
struct ItemChange {
  item::Item key;
  std::optional<item::Item> before;
  std::optional<item::Item> after;
  base::TimePoint written;  // last
};
struct ChangePortion {
  std::vector<ItemChange> changes;
  bool is_last = false;
};
// What became of items that were to be put into a table that is imported.
struct ImportedItems {
  std::size_t count = 0;              // of those that were taken
  std::vector<std::string> refusals;  // the rule that each of the others breaks
};
// What a store keeps of an export or an import, for those who run it.
struct TransferRecord {
  std::string id;
  std::string text;
};

struct ListTagsResponse {
  std::vector<Tag> tags;
  std::optional<std::string> next_token;
};

// Stands for the revision of a policy that is not there.
inline constexpr std::string_view no_policy_revision = "NO_POLICY";

// Which keys contributor insights are about.
enum class InsightsMode { accessed_and_throttled_keys, throttled_keys };
// Of a table, or of one of its global indexes.
struct InsightsTarget {
  std::string table_name;
  std::optional<std::string> index_name;
};
struct InsightsDescription {
  InsightsTarget target;
  bool enabled = false;
  InsightsMode mode = InsightsMode::accessed_and_throttled_keys;
  std::optional<base::TimePoint> changed;
};

}  // namespace postino::store
