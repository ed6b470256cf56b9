#include "remote/protocol/request_writer.h"
#include "remote/protocol/requests.h"

namespace postino::remote {

namespace {

void write_definitions(RequestWriter& json, const std::vector<store::AttributeDefinition>& definitions) {
  json.key("AttributeDefinitions").begin_array();
  for (const store::AttributeDefinition& definition : definitions)
    json.begin_object().text("AttributeName", definition.name).word("AttributeType", definition.type).end_object();
  json.end_array();
}

void write_key_schema(RequestWriter& json, const store::KeySchema& schema) {
  json.key("KeySchema").begin_array();
  for (const store::KeyElement& element : schema)
    json.begin_object().text("AttributeName", element.name).word("KeyType", element.role).end_object();
  json.end_array();
}

void write_projection(RequestWriter& json, const store::IndexProjection& projection) {
  json.key("Projection").begin_object().word("ProjectionType", projection.type);
  if (projection.non_key_attributes) json.texts("NonKeyAttributes", *projection.non_key_attributes);
  json.end_object();
}

void write_provisioned(RequestWriter& json, std::string_view name, const std::optional<store::Throughput>& units) {
  if (!units) return;
  json.key(name).begin_object().key("ReadCapacityUnits").integer(units->read_units);
  json.key("WriteCapacityUnits").integer(units->write_units).end_object();
}

void write_ceilings(RequestWriter& json, std::string_view name,
                    const std::optional<store::OnDemandThroughput>& ceilings) {
  if (!ceilings) return;
  json.key(name).begin_object().number("MaxReadRequestUnits", ceilings->max_read_units);
  json.number("MaxWriteRequestUnits", ceilings->max_write_units).end_object();
}

// The three kinds of throughput of a table or an index, in a definition and in an update.
template <class Definition>
void write_throughput(RequestWriter& json, const Definition& definition) {
  write_provisioned(json, "ProvisionedThroughput", definition.throughput);
  write_ceilings(json, "OnDemandThroughput", definition.on_demand);
  if (definition.warm)
    json.key("WarmThroughput")
        .begin_object()
        .key("ReadUnitsPerSecond")
        .integer(definition.warm->read_units)
        .key("WriteUnitsPerSecond")
        .integer(definition.warm->write_units)
        .end_object();
}

void write_index(RequestWriter& json, const store::LocalIndexDefinition& index) {
  json.begin_object().text("IndexName", index.name);
  write_key_schema(json, index.key_schema);
  write_projection(json, index.projection);
  json.end_object();
}

void write_index(RequestWriter& json, const store::GlobalIndexDefinition& index) {
  json.begin_object().text("IndexName", index.name);
  write_key_schema(json, index.key_schema);
  write_projection(json, index.projection);
  write_throughput(json, index);
  json.end_object();
}

template <class Index>
void write_index_list(RequestWriter& json, std::string_view name, const std::optional<std::vector<Index>>& indexes) {
  if (!indexes) return;
  json.key(name).begin_array();
  for (const Index& index : *indexes) write_index(json, index);
  json.end_array();
}

void write_change(RequestWriter& json, const store::CreateGlobalIndex& change) {
  write_index(json.key("Create"), change.definition);
}
void write_change(RequestWriter& json, const store::UpdateGlobalIndex& change) {
  json.key("Update").begin_object().text("IndexName", change.name);
  write_throughput(json, change);
  json.end_object();
}
void write_change(RequestWriter& json, const store::DeleteGlobalIndex& change) {
  json.key("Delete").begin_object().text("IndexName", change.name).end_object();
}

void write_encryption(RequestWriter& json, std::string_view name,
                      const std::optional<store::EncryptionSpecification>& encryption) {
  if (!encryption) return;
  json.key(name).begin_object().key("Enabled").boolean(encryption->enabled);
  json.text("SSEType", encryption->type).text("KMSMasterKeyId", encryption->key_id).end_object();
}

// What creating and updating a table have in common.
template <class Request>
void write_settings(RequestWriter& json, const Request& request) {
  json.word("BillingMode", request.billing_mode);
  write_throughput(json, request);
  if (request.stream)
    json.key("StreamSpecification")
        .begin_object()
        .key("StreamEnabled")
        .boolean(request.stream->enabled)
        .word("StreamViewType", request.stream->view_type)
        .end_object();
  write_encryption(json, "SSESpecification", request.encryption);
  json.word("TableClass", request.table_class);
}

void write_overrides(RequestWriter& json, const store::RestoreOverrides& overrides) {
  json.word("BillingModeOverride", overrides.billing_mode);
  write_index_list(json, "LocalSecondaryIndexOverride", overrides.local_indexes);
  write_index_list(json, "GlobalSecondaryIndexOverride", overrides.global_indexes);
  write_provisioned(json, "ProvisionedThroughputOverride", overrides.throughput);
  write_ceilings(json, "OnDemandThroughputOverride", overrides.on_demand);
  write_encryption(json, "SSESpecificationOverride", overrides.encryption);
}

void write_tags(RequestWriter& json, const std::vector<store::Tag>& tags) {
  json.key("Tags").begin_array();
  for (const store::Tag& tag : tags) json.begin_object().text("Key", tag.key).text("Value", tag.value).end_object();
  json.end_array();
}

}  // namespace

std::string encode(const store::CreateTableRequest& request) {
  std::string body;
  RequestWriter json(body);
  json.begin_object().text("TableName", request.table_name);
  write_definitions(json, request.attribute_definitions);
  write_key_schema(json, request.key_schema);
  write_index_list(json, "LocalSecondaryIndexes", request.local_indexes);
  write_index_list(json, "GlobalSecondaryIndexes", request.global_indexes);
  write_settings(json, request);
  json.flag("DeletionProtectionEnabled", request.deletion_protection);
  if (!request.tags.empty()) write_tags(json, request.tags);
  json.end_object();
  return body;
}

std::string encode(const store::UpdateTableRequest& request) {
  std::string body;
  RequestWriter json(body);
  json.begin_object().text("TableName", request.table_name);
  if (!request.attribute_definitions.empty()) write_definitions(json, request.attribute_definitions);
  write_settings(json, request);
  if (!request.global_index_updates.empty()) {
    json.key("GlobalSecondaryIndexUpdates").begin_array();
    for (const store::GlobalIndexUpdate& any : request.global_index_updates) {
      json.begin_object();
      std::visit([&json](const auto& change) { write_change(json, change); }, any);
      json.end_object();
    }
    json.end_array();
  }
  if (request.deletion_protection) json.key("DeletionProtectionEnabled").boolean(*request.deletion_protection);
  json.end_object();
  return body;
}

std::string encode(const store::ListTablesRequest& request) {
  std::string body;
  RequestWriter json(body);
  json.begin_object().text("ExclusiveStartTableName", request.exclusive_start_table_name);
  json.number("Limit", request.limit).end_object();
  return body;
}

std::string encode_table_name(const std::string& table_name) {
  std::string body;
  RequestWriter(body).begin_object().text("TableName", table_name).end_object();
  return body;
}

std::string encode_time_to_live(const std::string& table_name, const store::TimeToLiveSpecification& specification) {
  std::string body;
  RequestWriter json(body);
  json.begin_object().text("TableName", table_name).key("TimeToLiveSpecification").begin_object();
  json.text("AttributeName", specification.attribute_name).key("Enabled").boolean(specification.enabled);
  json.end_object().end_object();
  return body;
}

std::string encode_recovery(const std::string& table_name,
                            const store::PointInTimeRecoverySpecification& specification) {
  std::string body;
  RequestWriter json(body);
  json.begin_object().text("TableName", table_name).key("PointInTimeRecoverySpecification").begin_object();
  json.key("PointInTimeRecoveryEnabled").boolean(specification.enabled);
  json.number("RecoveryPeriodInDays", specification.recovery_period_days).end_object().end_object();
  return body;
}

std::string encode(const store::RestoreToPointInTimeRequest& request) {
  std::string body;
  RequestWriter json(body);
  json.begin_object().text("SourceTableName", request.source_table_name);
  json.text("SourceTableArn", request.source_table_arn).text("TargetTableName", request.target_table_name);
  if (request.time) json.key("RestoreDateTime").integer(base::epoch_seconds(*request.time));
  json.flag("UseLatestRestorableTime", request.use_latest_time);
  write_overrides(json, request.overrides);
  json.end_object();
  return body;
}

std::string encode_tags(const std::string& arn, const std::vector<store::Tag>& tags) {
  std::string body;
  RequestWriter json(body);
  write_tags(json.begin_object().text("ResourceArn", arn), tags);
  json.end_object();
  return body;
}

std::string encode_tag_keys(const std::string& arn, const std::vector<std::string>& keys) {
  std::string body;
  RequestWriter(body).begin_object().text("ResourceArn", arn).texts("TagKeys", keys).end_object();
  return body;
}

std::string encode_tagged_resource(const std::string& arn, const std::optional<std::string>& next_token) {
  std::string body;
  RequestWriter(body).begin_object().text("ResourceArn", arn).text("NextToken", next_token).end_object();
  return body;
}

}  // namespace postino::remote
