#include "wire/protocol/table_json.h"

#include "wire/protocol/enums.h"

namespace postino::wire {

namespace {

void write_definitions(JsonWriter& json, const std::vector<store::AttributeDefinition>& definitions) {
  json.key("AttributeDefinitions").begin_array();
  for (const store::AttributeDefinition& definition : definitions)
    json.begin_object()
        .key("AttributeName")
        .string(definition.name)
        .key("AttributeType")
        .string(item::type_name(definition.type))
        .end_object();
  json.end_array();
}

void write_throughput(JsonWriter& json, const store::ThroughputDescription& throughput) {
  json.key("ProvisionedThroughput").begin_object();
  if (throughput.last_increase) json.key("LastIncreaseDateTime").time(*throughput.last_increase);
  if (throughput.last_decrease) json.key("LastDecreaseDateTime").time(*throughput.last_decrease);
  json.key("NumberOfDecreasesToday").integer(throughput.decreases_today);
  json.key("ReadCapacityUnits").integer(throughput.provisioned.read_units);
  json.key("WriteCapacityUnits").integer(throughput.provisioned.write_units).end_object();
}

void write_on_demand(JsonWriter& json, const std::optional<store::OnDemandThroughput>& on_demand) {
  if (!on_demand) return;
  json.key("OnDemandThroughput").begin_object();
  if (on_demand->max_read_units) json.key("MaxReadRequestUnits").integer(*on_demand->max_read_units);
  if (on_demand->max_write_units) json.key("MaxWriteRequestUnits").integer(*on_demand->max_write_units);
  json.end_object();
}

void write_warm(JsonWriter& json, const std::optional<store::Throughput>& warm, std::string_view status) {
  if (!warm) return;
  json.key("WarmThroughput").begin_object().key("ReadUnitsPerSecond").integer(warm->read_units);
  json.key("Status").string(status).key("WriteUnitsPerSecond").integer(warm->write_units).end_object();
}

void write_projection(JsonWriter& json, const store::IndexDescription& index) {
  json.key("Projection").begin_object();
  if (!index.non_key_attributes.empty()) {
    json.key("NonKeyAttributes").begin_array();
    for (const std::string& name : index.non_key_attributes) json.string(name);
    json.end_array();
  }
  json.key("ProjectionType").string(word_for(index.projection)).end_object();
}

void write_index(JsonWriter& json, const store::IndexDescription& index, bool global) {
  json.begin_object().key("IndexName").string(index.name).key("KeySchema");
  write(json, index.key_schema);
  write_projection(json, index);
  if (global) {
    json.key("IndexStatus").string(word_for(index.status));
    if (index.backfilling) json.key("Backfilling").boolean(*index.backfilling);
    write_throughput(json, index.throughput);
    write_on_demand(json, index.on_demand);
    write_warm(json, index.warm, "ACTIVE");
  }
  json.key("IndexSizeBytes").integer(index.size_bytes).key("ItemCount").integer(index.item_count);
  json.key("IndexArn").string(index.arn).end_object();
}

void write_index_list(JsonWriter& json, std::string_view key, const std::vector<store::IndexDescription>& indexes,
                      bool global) {
  if (indexes.empty()) return;
  json.key(key).begin_array();
  for (const store::IndexDescription& index : indexes) write_index(json, index, global);
  json.end_array();
}

void write_billing(JsonWriter& json, const store::TableDescription& table) {
  if (table.billing_mode == store::BillingMode::provisioned && !table.last_switch_to_pay_per_request) return;
  json.key("BillingModeSummary").begin_object().key("BillingMode").string(word_for(table.billing_mode));
  if (table.last_switch_to_pay_per_request)
    json.key("LastUpdateToPayPerRequestDateTime").time(*table.last_switch_to_pay_per_request);
  json.end_object();
}

void write_stream(JsonWriter& json, const store::TableDescription& table) {
  if (table.stream)
    json.key("StreamSpecification")
        .begin_object()
        .key("StreamEnabled")
        .boolean(true)
        .key("StreamViewType")
        .string(word_for(*table.stream))
        .end_object();
  if (table.latest_stream_label) json.key("LatestStreamLabel").string(*table.latest_stream_label);
  if (table.latest_stream_arn) json.key("LatestStreamArn").string(*table.latest_stream_arn);
}

void write_encryption(JsonWriter& json, const std::optional<store::EncryptionSpecification>& encryption) {
  if (!encryption || !encryption->enabled) return;
  json.key("SSEDescription").begin_object().key("Status").string("ENABLED");
  json.key("SSEType").string(encryption->type.value_or("KMS"));
  if (encryption->key_id) json.key("KMSMasterKeyArn").string(*encryption->key_id);
  json.end_object();
}

void write_class_and_encryption(JsonWriter& json, const store::TableDescription& table) {
  if (table.table_class) {
    json.key("TableClassSummary").begin_object();
    if (table.table_class_changed) json.key("LastUpdateDateTime").time(*table.table_class_changed);
    json.key("TableClass").string(word_for(*table.table_class)).end_object();
  }
  write_encryption(json, table.encryption);
}

void write_units(JsonWriter& json, const store::Throughput& throughput) {
  json.key("ProvisionedThroughput").begin_object().key("ReadCapacityUnits").integer(throughput.read_units);
  json.key("WriteCapacityUnits").integer(throughput.write_units).end_object();
}

// What an index of a backed-up table was, without what it had.
void write_source_indexes(JsonWriter& json, std::string_view key, const std::vector<store::IndexDescription>& indexes,
                          bool global) {
  if (indexes.empty()) return;
  json.key(key).begin_array();
  for (const store::IndexDescription& index : indexes) {
    json.begin_object().key("IndexName").string(index.name).key("KeySchema");
    write(json, index.key_schema);
    write_projection(json, index);
    if (global) {
      write_units(json, index.throughput.provisioned);
      write_on_demand(json, index.on_demand);
    }
    json.end_object();
  }
  json.end_array();
}

void write_restore(JsonWriter& json, const std::optional<store::RestoreSummary>& restore) {
  if (!restore) return;
  json.key("RestoreSummary").begin_object();
  if (restore->source_backup_arn) json.key("SourceBackupArn").string(*restore->source_backup_arn);
  if (restore->source_table_arn) json.key("SourceTableArn").string(*restore->source_table_arn);
  json.key("RestoreDateTime").time(restore->time);
  json.key("RestoreInProgress").boolean(restore->in_progress).end_object();
}

// Of a table that is being deleted, it is not told what it is made of.
void write_table(JsonWriter& json, const store::TableDescription& table, bool deleted) {
  json.begin_object();
  if (!deleted) write_definitions(json, table.attribute_definitions);
  json.key("TableName").string(table.name);
  if (!deleted) write(json.key("KeySchema"), table.key_schema);
  json.key("TableStatus").string(word_for(table.status));
  if (!deleted) json.key("CreationDateTime").time(table.created);
  write_throughput(json, table.throughput);
  json.key("TableSizeBytes").integer(table.size_bytes).key("ItemCount").integer(table.item_count);
  json.key("TableArn").string(table.arn).key("TableId").string(table.id);
  write_billing(json, table);
  if (!deleted) write_index_list(json, "LocalSecondaryIndexes", table.local_indexes, false);
  if (!deleted) write_index_list(json, "GlobalSecondaryIndexes", table.global_indexes, true);
  write_stream(json, table);
  write_class_and_encryption(json, table);
  write_restore(json, table.restore);
  json.key("DeletionProtectionEnabled").boolean(table.deletion_protection);
  write_on_demand(json, table.on_demand);
  write_warm(json, table.warm, "ACTIVE");
  json.end_object();
}

}  // namespace

void write(JsonWriter& json, const store::KeySchema& schema) {
  json.begin_array();
  for (const store::KeyElement& element : schema)
    json.begin_object()
        .key("AttributeName")
        .string(element.name)
        .key("KeyType")
        .string(word_for(element.role))
        .end_object();
  json.end_array();
}

void write_creation(JsonWriter& json, const store::CreateTableRequest& request) {
  json.begin_object().key("TableName").string(request.table_name);
  write_definitions(json, request.attribute_definitions);
  write(json.key("KeySchema"), request.key_schema);
  if (request.billing_mode) json.key("BillingMode").string(word_for(*request.billing_mode));
  if (request.throughput) write_units(json, *request.throughput);
  write_on_demand(json, request.on_demand);
  if (request.encryption) {
    json.key("SSESpecification").begin_object().key("Enabled").boolean(request.encryption->enabled);
    if (request.encryption->type) json.key("SSEType").string(*request.encryption->type);
    if (request.encryption->key_id) json.key("KMSMasterKeyId").string(*request.encryption->key_id);
    json.end_object();
  }
  if (request.global_indexes) {
    json.key("GlobalSecondaryIndexes").begin_array();
    for (const store::GlobalIndexDefinition& index : *request.global_indexes) {
      json.begin_object().key("IndexName").string(index.name);
      write(json.key("KeySchema"), index.key_schema);
      store::IndexDescription projected;
      projected.projection = index.projection.type.value_or(store::ProjectionType::all);
      projected.non_key_attributes = index.projection.non_key_attributes.value_or(std::vector<std::string>());
      write_projection(json, projected);
      if (index.throughput) write_units(json, *index.throughput);
      write_on_demand(json, index.on_demand);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
}

void write_source(JsonWriter& json, const store::TableDescription& table) {
  json.begin_object().key("TableName").string(table.name).key("TableId").string(table.id);
  json.key("TableArn").string(table.arn).key("TableSizeBytes").integer(table.size_bytes).key("KeySchema");
  write(json, table.key_schema);
  json.key("TableCreationDateTime").time(table.created);
  write_units(json, table.throughput.provisioned);
  write_on_demand(json, table.on_demand);
  json.key("ItemCount").integer(table.item_count).key("BillingMode").string(word_for(table.billing_mode)).end_object();
}

void write_source_features(JsonWriter& json, const store::TableDescription& table,
                           const std::optional<std::string>& time_to_live_attribute) {
  json.begin_object();
  write_source_indexes(json, "LocalSecondaryIndexes", table.local_indexes, false);
  write_source_indexes(json, "GlobalSecondaryIndexes", table.global_indexes, true);
  if (table.stream)
    json.key("StreamDescription")
        .begin_object()
        .key("StreamEnabled")
        .boolean(true)
        .key("StreamViewType")
        .string(word_for(*table.stream))
        .end_object();
  if (time_to_live_attribute)
    json.key("TimeToLiveDescription")
        .begin_object()
        .key("TimeToLiveStatus")
        .string(word_for(store::TimeToLiveStatus::enabled))
        .key("AttributeName")
        .string(*time_to_live_attribute)
        .end_object();
  write_encryption(json, table.encryption);
  json.end_object();
}

void write(JsonWriter& json, const store::TableDescription& table) { write_table(json, table, false); }

void write_deleted(JsonWriter& json, const store::TableDescription& table) { write_table(json, table, true); }

}  // namespace postino::wire
