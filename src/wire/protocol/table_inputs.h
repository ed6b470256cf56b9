// The shapes of table definitions in CreateTable and UpdateTable.
#pragma once

#include "store/constraints.h"
#include "store/error.h"
#include "store/table_operations.h"
#include "wire/protocol/input.h"

namespace postino::wire {

struct AttributeDefinitionInput {
  std::optional<std::string> name;
  std::optional<std::string> type;
};
template <>
struct Shape<AttributeDefinitionInput> {
  static constexpr std::string_view name = "AttributeDefinition";
  using T = AttributeDefinitionInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::name>("AttributeName"),
      member<T, &T::type>("AttributeType"),
  });
};

struct KeyElementInput {
  std::optional<std::string> name;
  std::optional<std::string> type;
};
template <>
struct Shape<KeyElementInput> {
  static constexpr std::string_view name = "KeySchemaElement";
  using T = KeyElementInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::name>("AttributeName"),
      member<T, &T::type>("KeyType"),
  });
};

struct ProjectionInput {
  std::optional<std::string> type;
  std::optional<std::vector<std::string>> non_key_attributes;
};
template <>
struct Shape<ProjectionInput> {
  static constexpr std::string_view name = "Projection";
  using T = ProjectionInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::type>("ProjectionType"),
      member<T, &T::non_key_attributes>("NonKeyAttributes"),
  });
};

struct ThroughputInput {
  std::optional<std::int64_t> read_units;
  std::optional<std::int64_t> write_units;
};
template <>
struct Shape<ThroughputInput> {
  static constexpr std::string_view name = "ProvisionedThroughput";
  using T = ThroughputInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::read_units>("ReadCapacityUnits"),
      member<T, &T::write_units>("WriteCapacityUnits"),
  });
};

struct OnDemandInput {
  std::optional<std::int64_t> max_read_units;
  std::optional<std::int64_t> max_write_units;
};
template <>
struct Shape<OnDemandInput> {
  static constexpr std::string_view name = "OnDemandThroughput";
  using T = OnDemandInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::max_read_units>("MaxReadRequestUnits"),
      member<T, &T::max_write_units>("MaxWriteRequestUnits"),
  });
};

struct WarmThroughputInput {
  std::optional<std::int64_t> read_units;
  std::optional<std::int64_t> write_units;
};
template <>
struct Shape<WarmThroughputInput> {
  static constexpr std::string_view name = "WarmThroughput";
  using T = WarmThroughputInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::read_units>("ReadUnitsPerSecond"),
      member<T, &T::write_units>("WriteUnitsPerSecond"),
  });
};

// Local and global indexes alike, and the members of an index update.
struct IndexInput {
  std::optional<std::string> name;
  std::optional<std::vector<KeyElementInput>> key_schema;
  std::optional<ProjectionInput> projection;
  std::optional<ThroughputInput> throughput;
  std::optional<OnDemandInput> on_demand;
  std::optional<WarmThroughputInput> warm;
};
template <>
struct Shape<IndexInput> {
  static constexpr std::string_view name = "GlobalSecondaryIndex";
  using T = IndexInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::name>("IndexName"),
      member<T, &T::key_schema>("KeySchema"),
      member<T, &T::projection>("Projection"),
      member<T, &T::throughput>("ProvisionedThroughput"),
      member<T, &T::on_demand>("OnDemandThroughput"),
      member<T, &T::warm>("WarmThroughput"),
  });
};

inline constexpr std::string_view update_action_name = "UpdateGlobalSecondaryIndexAction";
inline constexpr std::string_view create_action_name = "CreateGlobalSecondaryIndexAction";
inline constexpr std::string_view delete_action_name = "DeleteGlobalSecondaryIndexAction";
struct IndexUpdateInput {
  std::optional<IndexInput> update;
  std::optional<IndexInput> create;
  std::optional<IndexInput> remove;
};
template <>
struct Shape<IndexUpdateInput> {
  static constexpr std::string_view name = "GlobalSecondaryIndexUpdate";
  using T = IndexUpdateInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::update, update_action_name>("Update"),
      member<T, &T::create, create_action_name>("Create"),
      member<T, &T::remove, delete_action_name>("Delete"),
  });
};

struct StreamSpecificationInput {
  std::optional<bool> enabled;
  std::optional<std::string> view_type;
};
template <>
struct Shape<StreamSpecificationInput> {
  static constexpr std::string_view name = "StreamSpecification";
  using T = StreamSpecificationInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::enabled>("StreamEnabled"),
      member<T, &T::view_type>("StreamViewType"),
  });
};

struct EncryptionInput {
  std::optional<bool> enabled;
  std::optional<std::string> type;
  std::optional<std::string> key_id;
};
template <>
struct Shape<EncryptionInput> {
  static constexpr std::string_view name = "SSESpecification";
  using T = EncryptionInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::enabled>("Enabled"),
      member<T, &T::type>("SSEType"),
      member<T, &T::key_id>("KMSMasterKeyId"),
  });
};

struct TagInput {
  std::optional<std::string> key;
  std::optional<std::string> value;
};
template <>
struct Shape<TagInput> {
  static constexpr std::string_view name = "Tag";
  using T = TagInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::key>("Key"),
      member<T, &T::value>("Value"),
  });
};

inline constexpr std::string_view local_index_name = "LocalSecondaryIndex";
// CreateTable and UpdateTable.
// A replica in another region. There is none here, so what it would be is not looked at.
struct ReplicaUpdateInput {};
template <>
struct Shape<ReplicaUpdateInput> {
  static constexpr std::string_view name = "ReplicationGroupUpdate";
  static constexpr std::array<Member<ReplicaUpdateInput>, 0> members{};
};

struct TableInput {
  std::optional<std::string> table_name;
  std::optional<std::vector<AttributeDefinitionInput>> attribute_definitions;
  std::optional<std::vector<KeyElementInput>> key_schema;
  std::optional<std::vector<IndexInput>> local_indexes;
  std::optional<std::vector<IndexInput>> global_indexes;
  std::optional<std::vector<IndexUpdateInput>> global_index_updates;
  std::optional<std::string> billing_mode;
  std::optional<ThroughputInput> throughput;
  std::optional<OnDemandInput> on_demand;
  std::optional<WarmThroughputInput> warm;
  std::optional<StreamSpecificationInput> stream;
  std::optional<EncryptionInput> encryption;
  std::optional<std::string> table_class;
  std::optional<bool> deletion_protection;
  std::optional<std::vector<TagInput>> tags;
  std::optional<std::string> resource_policy;
  std::optional<std::vector<ReplicaUpdateInput>> replica_updates;
};
template <>
struct Shape<TableInput> {
  static constexpr std::string_view name = "CreateTableInput";
  using T = TableInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::table_name>("TableName"),
      member<T, &T::attribute_definitions>("AttributeDefinitions"),
      member<T, &T::key_schema>("KeySchema"),
      member<T, &T::local_indexes, local_index_name>("LocalSecondaryIndexes"),
      member<T, &T::global_indexes>("GlobalSecondaryIndexes"),
      member<T, &T::global_index_updates>("GlobalSecondaryIndexUpdates"),
      member<T, &T::billing_mode>("BillingMode"),
      member<T, &T::throughput>("ProvisionedThroughput"),
      member<T, &T::on_demand>("OnDemandThroughput"),
      member<T, &T::warm>("WarmThroughput"),
      member<T, &T::stream>("StreamSpecification"),
      member<T, &T::encryption>("SSESpecification"),
      member<T, &T::table_class>("TableClass"),
      member<T, &T::deletion_protection>("DeletionProtectionEnabled"),
      member<T, &T::tags>("Tags"),
      member<T, &T::resource_policy>("ResourcePolicy"),
      member<T, &T::replica_updates>("ReplicaUpdates"),
  });
};

// What the operations that restore tables have in common.
struct RestoreOverridesInput {
  std::optional<std::string> billing_mode;
  std::optional<std::vector<IndexInput>> local_indexes;
  std::optional<std::vector<IndexInput>> global_indexes;
  std::optional<ThroughputInput> throughput;
  std::optional<OnDemandInput> on_demand;
  std::optional<EncryptionInput> encryption;
};

// What can only be checked while it is still text: what is missing, and words that are none.
store::Answer<store::CreateTableRequest> decode_create_table(TableInput input);
store::Answer<store::UpdateTableRequest> decode_update_table(TableInput input);

void check_overrides(store::Constraints& constraints, const RestoreOverridesInput& input);
store::RestoreOverrides overrides_of(RestoreOverridesInput input);

// Tags; the rules for them are the store's.
std::vector<store::Tag> tags_of(std::vector<TagInput> tags);

}  // namespace postino::wire
