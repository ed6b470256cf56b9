#include "remote/protocol/answers.h"
#include "remote/protocol/key_schema_answer.h"

namespace postino::remote {

namespace {

using Json = AnswerReader::Json;

bool read_throughput(AnswerReader& reader, Json json, store::ThroughputDescription& out) {
  return reader.members(json, [&](std::string_view name, Json value) {
    if (name == "ReadCapacityUnits") return reader.integer(value, out.provisioned.read_units);
    if (name == "WriteCapacityUnits") return reader.integer(value, out.provisioned.write_units);
    if (name == "NumberOfDecreasesToday") return reader.integer(value, out.decreases_today);
    if (name == "LastIncreaseDateTime") return reader.time(value, out.last_increase);
    if (name == "LastDecreaseDateTime") return reader.time(value, out.last_decrease);
    return true;
  });
}

bool read_on_demand(AnswerReader& reader, Json json, store::OnDemandThroughput& out) {
  return reader.members(json, [&](std::string_view name, Json value) {
    if (name == "MaxReadRequestUnits") return reader.integer(value, out.max_read_units);
    if (name == "MaxWriteRequestUnits") return reader.integer(value, out.max_write_units);
    return true;
  });
}

bool read_warm(AnswerReader& reader, Json json, store::Throughput& out) {
  return reader.members(json, [&](std::string_view name, Json value) {
    if (name == "ReadUnitsPerSecond") return reader.integer(value, out.read_units);
    if (name == "WriteUnitsPerSecond") return reader.integer(value, out.write_units);
    return true;
  });
}

bool read_texts(AnswerReader& reader, Json json, std::vector<std::string>& out) {
  return reader.elements(json, [&](Json each) { return reader.text(each, out.emplace_back()); });
}

bool read_projection(AnswerReader& reader, Json json, store::IndexDescription& out) {
  return reader.members(json, [&](std::string_view name, Json value) {
    if (name == "ProjectionType") return reader.word(value, out.projection);
    if (name == "NonKeyAttributes") return read_texts(reader, value, out.non_key_attributes);
    return true;
  });
}

bool read_index(AnswerReader& reader, Json json, store::IndexDescription& out) {
  return reader.members(json, [&](std::string_view name, Json value) {
    if (name == "IndexName") return reader.text(value, out.name);
    if (name == "IndexArn") return reader.text(value, out.arn);
    if (name == "KeySchema") return read_key_schema(reader, value, out.key_schema);
    if (name == "Projection") return read_projection(reader, value, out);
    if (name == "ItemCount") return reader.integer(value, out.item_count);
    if (name == "IndexSizeBytes") return reader.integer(value, out.size_bytes);
    if (name == "IndexStatus") {
      out.status = store::IndexStatus::updating;  // a status that is not known is not active
      return reader.word(value, out.status);
    }
    if (name == "Backfilling") return reader.boolean(value, out.backfilling);
    if (name == "ProvisionedThroughput") return read_throughput(reader, value, out.throughput);
    if (name == "OnDemandThroughput") return read_on_demand(reader, value, out.on_demand.emplace());
    if (name == "WarmThroughput") return read_warm(reader, value, out.warm.emplace());
    return true;
  });
}

bool read_index_list(AnswerReader& reader, Json json, std::vector<store::IndexDescription>& out) {
  return reader.elements(json, [&](Json each) { return read_index(reader, each, out.emplace_back()); });
}

bool read_definitions(AnswerReader& reader, Json json, std::vector<store::AttributeDefinition>& out) {
  return reader.elements(json, [&](Json each) {
    store::AttributeDefinition& definition = out.emplace_back();
    return reader.members(each, [&](std::string_view name, Json value) {
      if (name == "AttributeName") return reader.text(value, definition.name);
      if (name == "AttributeType") return reader.word(value, definition.type);
      return true;
    });
  });
}

bool read_billing(AnswerReader& reader, Json json, store::TableDescription& out) {
  return reader.members(json, [&](std::string_view name, Json value) {
    if (name == "BillingMode") return reader.word(value, out.billing_mode);
    if (name == "LastUpdateToPayPerRequestDateTime") return reader.time(value, out.last_switch_to_pay_per_request);
    return true;
  });
}

bool read_stream_specification(AnswerReader& reader, Json json, store::TableDescription& out) {
  bool is_enabled = false;
  store::StreamViewType view = store::StreamViewType::keys_only;
  const bool is_read = reader.members(json, [&](std::string_view name, Json value) {
    if (name == "StreamEnabled") return reader.boolean(value, is_enabled);
    if (name == "StreamViewType") return reader.word(value, view);
    return true;
  });
  if (is_enabled) out.stream = view;
  return is_read;
}

bool read_class(AnswerReader& reader, Json json, store::TableDescription& out) {
  return reader.members(json, [&](std::string_view name, Json value) {
    if (name == "TableClass") return reader.word(value, out.table_class.emplace());
    if (name == "LastUpdateDateTime") return reader.time(value, out.table_class_changed);
    return true;
  });
}

bool read_encryption(AnswerReader& reader, Json json, store::EncryptionSpecification& out) {
  return reader.members(json, [&](std::string_view name, Json value) {
    if (name == "SSEType") return reader.text(value, out.type);
    if (name == "KMSMasterKeyArn") return reader.text(value, out.key_id);
    if (name != "Status") return true;
    std::string status;
    if (!reader.text(value, status)) return false;
    out.enabled = status == "ENABLED" || status == "ENABLING" || status == "UPDATING";
    return true;
  });
}

bool read_restore(AnswerReader& reader, Json json, store::RestoreSummary& out) {
  return reader.members(json, [&](std::string_view name, Json value) {
    if (name == "SourceBackupArn") return reader.text(value, out.source_backup_arn);
    if (name == "SourceTableArn") return reader.text(value, out.source_table_arn);
    if (name == "RestoreDateTime") return reader.time(value, out.time);
    return name == "RestoreInProgress" ? reader.boolean(value, out.in_progress) : true;
  });
}

// What a table is, beside what it costs and how it is kept.
bool read_definition(AnswerReader& reader, std::string_view name, Json value, store::TableDescription& out) {
  if (name == "TableName") return reader.text(value, out.name);
  if (name == "TableArn") return reader.text(value, out.arn);
  if (name == "TableId") return reader.text(value, out.id);
  if (name == "TableStatus") {
    out.status = store::TableStatus::updating;  // a status that is not known is not active
    return reader.word(value, out.status);
  }
  if (name == "CreationDateTime") return reader.time(value, out.created);
  if (name == "AttributeDefinitions") return read_definitions(reader, value, out.attribute_definitions);
  if (name == "KeySchema") return read_key_schema(reader, value, out.key_schema);
  if (name == "LocalSecondaryIndexes") return read_index_list(reader, value, out.local_indexes);
  if (name == "GlobalSecondaryIndexes") return read_index_list(reader, value, out.global_indexes);
  if (name == "ItemCount") return reader.integer(value, out.item_count);
  if (name == "TableSizeBytes") return reader.integer(value, out.size_bytes);
  return true;
}

bool read_description(AnswerReader& reader, Json json, store::TableDescription& out) {
  return reader.members(json, [&](std::string_view name, Json value) {
    if (name == "BillingModeSummary") return read_billing(reader, value, out);
    if (name == "ProvisionedThroughput") return read_throughput(reader, value, out.throughput);
    if (name == "OnDemandThroughput") return read_on_demand(reader, value, out.on_demand.emplace());
    if (name == "WarmThroughput") return read_warm(reader, value, out.warm.emplace());
    if (name == "StreamSpecification") return read_stream_specification(reader, value, out);
    if (name == "LatestStreamLabel") return reader.text(value, out.latest_stream_label);
    if (name == "LatestStreamArn") return reader.text(value, out.latest_stream_arn);
    if (name == "TableClassSummary") return read_class(reader, value, out);
    if (name == "SSEDescription") return read_encryption(reader, value, out.encryption.emplace());
    if (name == "RestoreSummary") return read_restore(reader, value, out.restore.emplace());
    if (name == "DeletionProtectionEnabled") return reader.boolean(value, out.deletion_protection);
    return read_definition(reader, name, value, out);
  });
}

}  // namespace

base::Result<store::TableDescription> decode_table(std::string body) {
  auto table = read_success<store::TableDescription>(
      std::move(body), "", [](AnswerReader& reader, std::string_view name, Json value, store::TableDescription& out) {
        return name == "Table" || name == "TableDescription" ? read_description(reader, value, out) : true;
      });
  // DescribeTable calls it Table, all others TableDescription.
  if (table && table->name.empty()) return base::fail(base::ErrorCode::malformed, "it has no table");
  return table;
}

base::Result<store::ListTablesResponse> decode_list_tables(std::string body) {
  return read_success<store::ListTablesResponse>(
      std::move(body), "TableNames",
      [](AnswerReader& reader, std::string_view name, Json value, store::ListTablesResponse& out) {
        if (name == "TableNames") return read_texts(reader, value, out.table_names);
        if (name == "LastEvaluatedTableName") return reader.text(value, out.last_evaluated_table_name);
        return true;
      });
}

base::Result<store::TimeToLiveSpecification> decode_time_to_live_specification(std::string body) {
  return read_success<store::TimeToLiveSpecification>(
      std::move(body), "TimeToLiveSpecification",
      [](AnswerReader& reader, std::string_view name, Json value, store::TimeToLiveSpecification& out) {
        if (name != "TimeToLiveSpecification") return true;
        return reader.members(value, [&](std::string_view member, Json each) {
          if (member == "AttributeName") return reader.text(each, out.attribute_name);
          return member == "Enabled" ? reader.boolean(each, out.enabled) : true;
        });
      });
}

base::Result<store::TimeToLiveDescription> decode_time_to_live(std::string body) {
  return read_success<store::TimeToLiveDescription>(
      std::move(body), "TimeToLiveDescription",
      [](AnswerReader& reader, std::string_view name, Json value, store::TimeToLiveDescription& out) {
        if (name != "TimeToLiveDescription") return true;
        return reader.members(value, [&](std::string_view member, Json each) {
          if (member == "AttributeName") return reader.text(each, out.attribute_name);
          return member == "TimeToLiveStatus" ? reader.word(each, out.status) : true;
        });
      });
}

base::Result<store::PointInTimeRecoveryDescription> decode_recovery(std::string body) {
  using Description = store::PointInTimeRecoveryDescription;
  const auto read_recovery = [](AnswerReader& reader, Json json, Description& out) {
    return reader.members(json, [&](std::string_view name, Json value) {
      std::string status;
      if (name == "EarliestRestorableDateTime") return reader.time(value, out.earliest_restorable);
      if (name == "LatestRestorableDateTime") return reader.time(value, out.latest_restorable);
      if (name == "RecoveryPeriodInDays") return reader.integer(value, out.recovery_period_days);
      if (name != "PointInTimeRecoveryStatus") return true;
      if (!reader.text(value, status)) return false;
      out.enabled = status == "ENABLED";
      return true;
    });
  };
  return read_success<Description>(
      std::move(body), "ContinuousBackupsDescription",
      [&](AnswerReader& reader, std::string_view name, Json value, Description& out) {
        if (name != "ContinuousBackupsDescription") return true;
        return reader.members(value, [&](std::string_view member, Json each) {
          return member == "PointInTimeRecoveryDescription" ? read_recovery(reader, each, out) : true;
        });
      });
}

base::Result<store::ListTagsResponse> decode_tags(std::string body) {
  return read_success<store::ListTagsResponse>(
      std::move(body), "", [](AnswerReader& reader, std::string_view name, Json value, store::ListTagsResponse& out) {
        if (name == "NextToken") return reader.text(value, out.next_token);
        if (name != "Tags") return true;
        return reader.elements(value, [&](Json each) {
          store::Tag& tag = out.tags.emplace_back();
          return reader.members(each, [&](std::string_view member, Json text) {
            if (member == "Key") return reader.text(text, tag.key);
            return member == "Value" ? reader.text(text, tag.value) : true;
          });
        });
      });
}

}  // namespace postino::remote
