// Tables as a caller defines and sees them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "item/value.h"

namespace postino::store {

inline constexpr std::size_t max_global_indexes = 20;
inline constexpr std::size_t max_local_indexes = 5;
inline constexpr std::size_t max_index_key_parts = 4;  // of each kind, in a global index

struct AttributeDefinition {
  std::string name;
  item::Type type = item::Type::string;  // string, number or binary
  friend bool operator==(const AttributeDefinition&, const AttributeDefinition&) = default;
};

enum class KeyRole { hash, range };

struct KeyElement {
  std::string name;
  KeyRole role = KeyRole::hash;
  friend bool operator==(const KeyElement&, const KeyElement&) = default;
};
using KeySchema = std::vector<KeyElement>;

enum class ProjectionType { all, keys_only, include };

struct IndexProjection {
  std::optional<ProjectionType> type;
  std::optional<std::vector<std::string>> non_key_attributes;
};

enum class BillingMode { provisioned, pay_per_request };
enum class TableClass { standard, standard_infrequent_access };
enum class TableStatus { creating, updating, deleting, active };
enum class IndexStatus { creating, updating, deleting, active };
enum class StreamViewType { keys_only, new_image, old_image, new_and_old_images };
enum class StreamStatus { enabling, enabled, disabling, disabled };

struct Throughput {
  std::int64_t read_units = 0;
  std::int64_t write_units = 0;
  friend bool operator==(const Throughput&, const Throughput&) = default;
};

// Ceilings of on-demand tables; -1 means none.
struct OnDemandThroughput {
  std::optional<std::int64_t> max_read_units;
  std::optional<std::int64_t> max_write_units;
  friend bool operator==(const OnDemandThroughput&, const OnDemandThroughput&) = default;
};

struct StreamSpecification {
  bool enabled = false;
  std::optional<StreamViewType> view_type;
};

struct EncryptionSpecification {
  bool enabled = false;
  std::optional<std::string> type;
  std::optional<std::string> key_id;
};

struct Tag {
  std::string key;
  std::string value;
  friend bool operator==(const Tag&, const Tag&) = default;
};

struct LocalIndexDefinition {
  std::string name;
  KeySchema key_schema;
  IndexProjection projection;
};

struct GlobalIndexDefinition {
  std::string name;
  KeySchema key_schema;
  IndexProjection projection;
  std::optional<Throughput> throughput;
  std::optional<OnDemandThroughput> on_demand;
  std::optional<Throughput> warm;
};

// Provisioned values and what became of them.
struct ThroughputDescription {
  Throughput provisioned;
  int decreases_today = 0;
  std::optional<base::TimePoint> last_increase;
  std::optional<base::TimePoint> last_decrease;
};

struct IndexDescription {
  std::string name;
  std::string arn;
  KeySchema key_schema;
  ProjectionType projection = ProjectionType::all;
  std::vector<std::string> non_key_attributes;
  std::int64_t item_count = 0;
  std::int64_t size_bytes = 0;
  // Global indexes only:
  IndexStatus status = IndexStatus::active;
  std::optional<bool> backfilling;
  ThroughputDescription throughput;
  std::optional<OnDemandThroughput> on_demand;
  std::optional<Throughput> warm;  // absent in CreateTable's own answer
};

// Of a table that is being restored.
struct RestoreSummary {
  std::optional<std::string> source_backup_arn;
  std::optional<std::string> source_table_arn;
  base::TimePoint time;
  bool in_progress = false;
  friend bool operator==(const RestoreSummary&, const RestoreSummary&) = default;
};

struct TableDescription {
  std::string name;
  std::string arn;
  std::string id;
  TableStatus status = TableStatus::active;
  base::TimePoint created;
  std::vector<AttributeDefinition> attribute_definitions;
  KeySchema key_schema;
  std::vector<IndexDescription> local_indexes;
  std::vector<IndexDescription> global_indexes;
  BillingMode billing_mode = BillingMode::provisioned;
  std::optional<base::TimePoint> last_switch_to_pay_per_request;
  ThroughputDescription throughput;
  std::optional<OnDemandThroughput> on_demand;
  std::optional<Throughput> warm;  // absent in CreateTable's own answer
  std::int64_t item_count = 0;
  std::int64_t size_bytes = 0;
  std::optional<StreamViewType> stream;  // the enabled stream's view
  std::optional<std::string> latest_stream_label;
  std::optional<std::string> latest_stream_arn;
  std::optional<TableClass> table_class;
  std::optional<base::TimePoint> table_class_changed;
  std::optional<EncryptionSpecification> encryption;
  bool deletion_protection = false;
  std::optional<RestoreSummary> restore;
};

// Who may do what with a table and its indexes, or with a stream, as it is kept beside them: a text in IAM's JSON.
struct ResourcePolicy {
  std::string text;
  std::string revision;
  base::TimePoint changed;
};
using ResourcePolicyPointer = std::shared_ptr<const ResourcePolicy>;

}  // namespace postino::store
