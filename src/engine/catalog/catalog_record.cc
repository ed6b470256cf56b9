#include "engine/catalog/catalog_record.h"

#include "engine/catalog/throughput_record.h"
#include "engine/catalog/transition_record.h"
#include "engine/storage/record_fields.h"
#include "item/binary_codec.h"

namespace postino::engine {

namespace {

constexpr char catalog_record_format = 1;

std::string encode_catalog_record(RecordWriter writer) {
  std::string bytes(1, catalog_record_format);
  item::encode(bytes, writer.take());
  return bytes;
}

base::Result<item::Map> decode_catalog_record(std::string_view bytes) {
  if (bytes.empty() || bytes.front() != catalog_record_format)
    return base::fail(base::ErrorCode::corrupt, "a record of the catalog has an unknown format");
  return item::decode_map(bytes.substr(1));
}

RecordWriter write_key_part(const KeyPart& part) {
  return std::move(RecordWriter().text("name", part.name).enumeration("type", part.type));
}

KeyPart read_key_part(const RecordReader& reader) {
  return {reader.text("name"), reader.enumeration<item::Type>("type")};
}

std::vector<KeyPart> read_key_parts(const std::vector<RecordReader>& readers) {
  std::vector<KeyPart> parts;
  for (const RecordReader& reader : readers) parts.push_back(read_key_part(reader));
  return parts;
}

void write_backfill(RecordWriter& writer, const std::optional<Backfill>& backfill) {
  if (backfill) writer.bytes("backfill_cursor", backfill->cursor);
}

std::optional<Backfill> read_backfill(const RecordReader& reader) {
  auto cursor = reader.optional_bytes("backfill_cursor");
  return cursor ? std::optional<Backfill>(Backfill{std::move(*cursor)}) : std::nullopt;
}

void write_insights(RecordWriter& writer, const std::optional<Insights>& insights) {
  if (insights)
    writer.map("insights", std::move(RecordWriter()
                                         .boolean("enabled", insights->enabled)
                                         .enumeration("mode", insights->mode)
                                         .time("changed", insights->changed)));
}

std::optional<Insights> read_insights(const RecordReader& reader) {
  const auto map = reader.map("insights");
  if (!map) return std::nullopt;
  return Insights{map->boolean("enabled"), map->enumeration<store::InsightsMode>("mode"), map->time("changed")};
}

void write_policy(RecordWriter& writer, const store::ResourcePolicyPointer& policy) {
  if (policy)
    writer.map("policy", std::move(RecordWriter()
                                       .text("text", policy->text)
                                       .text("revision", policy->revision)
                                       .time("changed", policy->changed)));
}

store::ResourcePolicyPointer read_policy(const RecordReader& reader) {
  const auto map = reader.map("policy");
  if (!map) return nullptr;
  return std::make_shared<const store::ResourcePolicy>(
      store::ResourcePolicy{map->text("text"), map->text("revision"), map->time("changed")});
}

RecordWriter write_index(const Index& index) {
  RecordWriter writer;
  writer.integer("id", index.id)
      .boolean("global", index.global)
      .text("name", index.name)
      .maps("hash", index.hash, write_key_part)
      .maps("range", index.range, write_key_part)
      .enumeration("projection", index.projection)
      .texts("non_key_attributes", index.non_key_attributes)
      .map("throughput", write_throughput(index.throughput))
      .map("warm", write_throughput_units(index.warm));
  write_on_demand(writer, index.on_demand);
  write_insights(writer, index.insights);
  write_backfill(writer, index.backfill);
  return writer;
}

Index read_index(const RecordReader& reader) {
  Index index;
  index.id = static_cast<ObjectId>(reader.integer("id"));
  index.global = reader.boolean("global");
  index.name = reader.text("name");
  index.hash = read_key_parts(reader.maps("hash"));
  index.range = read_key_parts(reader.maps("range"));
  index.projection = reader.enumeration<store::ProjectionType>("projection");
  index.non_key_attributes = reader.texts("non_key_attributes");
  index.throughput = read_throughput(reader.map("throughput"));
  index.warm = read_throughput_units(reader.map("warm"));
  index.on_demand = read_on_demand(reader);
  index.insights = read_insights(reader);
  index.backfill = read_backfill(reader);
  index.statistics = std::make_shared<Statistics>();
  return index;
}

RecordWriter write_definition(const store::AttributeDefinition& definition) {
  return std::move(RecordWriter().text("name", definition.name).enumeration("type", definition.type));
}

RecordWriter write_tag(const store::Tag& tag) {
  return std::move(RecordWriter().text("key", tag.key).text("value", tag.value));
}

void write_table_settings(RecordWriter& writer, const Table& table) {
  if (table.encryption)
    writer.map("encryption", std::move(RecordWriter()
                                           .boolean("enabled", table.encryption->enabled)
                                           .text("type", table.encryption->type)
                                           .text("key_id", table.encryption->key_id)));
  if (table.time_to_live) {
    RecordWriter time_to_live;
    time_to_live.text("attribute", table.time_to_live->attribute);
    write_backfill(time_to_live, table.time_to_live->backfill);
    writer.map("time_to_live", std::move(time_to_live));
  }
  if (table.last_time_to_live_change)
    writer.map("last_time_to_live_change",
               std::move(RecordWriter()
                             .time("time", table.last_time_to_live_change->time)
                             .text("attribute", table.last_time_to_live_change->attribute)));
  if (table.recovery)
    writer.map("recovery", std::move(RecordWriter()
                                         .time("records_from", table.recovery->enabled_at)
                                         .integer("period_days", table.recovery->period_days)
                                         .time("trimmed_until", table.recovery->trimmed_until)));
  if (table.is_imported) writer.boolean("is_imported", true);
  if (table.is_recorded) writer.boolean("is_recorded", true);
  if (table.restore)
    writer.map("restore", std::move(RecordWriter()
                                        .text("source_arn", table.restore->source_arn)
                                        .integer("source", table.restore->source)
                                        .time("time", table.restore->time)
                                        .text("backup", table.restore->backup)
                                        .time("changes_after", table.restore->changes_after)));
  if (table.stream)
    writer.map("stream",
               std::move(RecordWriter().integer("id", table.stream->id).enumeration("view", table.stream->view)));
  writer.text("latest_stream_label", table.latest_stream_label)
      .time("deletion_protection_changed", table.deletion_protection_changed)
      .maps("tags", table.tags, write_tag);
  write_policy(writer, table.policy);
  write_insights(writer, table.insights);
  if (table.transition) writer.map("transition", write_transition(*table.transition));
}

void read_table_settings(Table& table, const RecordReader& reader) {
  if (const auto map = reader.map("encryption"))
    table.encryption = {map->boolean("enabled"), map->optional_text("type"), map->optional_text("key_id")};
  if (const auto map = reader.map("time_to_live")) table.time_to_live = {map->text("attribute"), read_backfill(*map)};
  if (const auto map = reader.map("last_time_to_live_change"))
    table.last_time_to_live_change = {map->time("time"), map->text("attribute")};
  if (const auto map = reader.map("recovery"))
    table.recovery = {map->time("records_from"), static_cast<int>(map->integer("period_days")),
                      map->optional_time("trimmed_until")};
  if (const auto map = reader.map("restore"))
    table.restore = {map->text("source_arn"), static_cast<ObjectId>(map->integer("source")), map->time("time"),
                     map->optional_text("backup"), map->optional_time("changes_after")};
  table.is_imported = reader.boolean("is_imported");
  table.is_recorded = reader.boolean("is_recorded");
  if (const auto map = reader.map("stream"))
    table.stream = {static_cast<ObjectId>(map->integer("id")), map->enumeration<store::StreamViewType>("view")};
  table.latest_stream_label = reader.optional_text("latest_stream_label");
  table.deletion_protection_changed = reader.optional_time("deletion_protection_changed");
  for (const RecordReader& tag : reader.maps("tags")) table.tags.push_back({tag.text("key"), tag.text("value")});
  table.policy = read_policy(reader);
  table.insights = read_insights(reader);
  if (const auto map = reader.map("transition")) table.transition = read_transition(table.name, *map);
}

RecordWriter write_shard(const StreamShard& shard) {
  return std::move(RecordWriter()
                       .integer("number", static_cast<std::int64_t>(shard.number))
                       .time("created", shard.created)
                       .integer("first", static_cast<std::int64_t>(shard.first))
                       .integer("end", shard.end ? std::optional<std::int64_t>(*shard.end) : std::nullopt)
                       .time("closed", shard.closed)
                       .time("parent_created", shard.parent_created));
}

StreamShard read_shard(const RecordReader& reader) {
  StreamShard shard;
  shard.number = static_cast<std::uint64_t>(reader.integer("number"));
  shard.created = reader.time("created");
  shard.first = static_cast<RecordNumber>(reader.integer("first"));
  if (const auto end = reader.optional_integer("end")) shard.end = static_cast<RecordNumber>(*end);
  shard.closed = reader.optional_time("closed");
  shard.parent_created = reader.optional_time("parent_created");
  return shard;
}

}  // namespace

std::string encode_table(const Table& table) {
  RecordWriter writer;
  writer.integer("id", table.id)
      .text("name", table.name)
      .text("uuid", table.uuid)
      .time("created", table.created)
      .maps("attribute_definitions", table.attribute_definitions, write_definition)
      .map("hash", write_key_part(table.hash))
      .maps("indexes", table.indexes, write_index)
      .enumeration("billing_mode", table.billing_mode)
      .time("last_switch_to_pay_per_request", table.last_switch_to_pay_per_request)
      .map("throughput", write_throughput(table.throughput))
      .map("warm", write_throughput_units(table.warm))
      .enumeration("table_class", table.table_class)
      .time("table_class_changed", table.table_class_changed)
      .boolean("deletion_protection", table.deletion_protection);
  if (table.range) writer.map("range", write_key_part(*table.range));
  write_on_demand(writer, table.on_demand);
  write_table_settings(writer, table);
  return encode_catalog_record(std::move(writer));
}

base::Result<Table> decode_table(std::string_view bytes) {
  TRY(const item::Map map, decode_catalog_record(bytes));
  const RecordReader reader(map);
  Table table;
  table.id = static_cast<ObjectId>(reader.integer("id"));
  table.name = reader.text("name");
  table.uuid = reader.text("uuid");
  table.created = reader.time("created");
  for (const RecordReader& definition : reader.maps("attribute_definitions"))
    table.attribute_definitions.push_back({definition.text("name"), definition.enumeration<item::Type>("type")});
  const auto hash = reader.map("hash");
  if (table.id == 0 || table.name.empty() || !hash)
    return base::fail(base::ErrorCode::corrupt, "a table record of the catalog lacks its id, name or key");
  table.hash = read_key_part(*hash);
  if (const auto range = reader.map("range")) table.range = read_key_part(*range);
  for (const RecordReader& index : reader.maps("indexes")) table.indexes.push_back(read_index(index));
  for (Index& index : table.indexes) work_out_kept_attributes(index, table);
  table.billing_mode = reader.enumeration<store::BillingMode>("billing_mode");
  table.last_switch_to_pay_per_request = reader.optional_time("last_switch_to_pay_per_request");
  table.throughput = read_throughput(reader.map("throughput"));
  table.warm = read_throughput_units(reader.map("warm"));
  table.on_demand = read_on_demand(reader);
  table.table_class = reader.optional_enumeration<store::TableClass>("table_class");
  table.table_class_changed = reader.optional_time("table_class_changed");
  table.deletion_protection = reader.boolean("deletion_protection");
  read_table_settings(table, reader);
  table.statistics = std::make_shared<Statistics>();
  table.meter = std::make_shared<ThroughputMeter>(table.created);
  for (Index& index : table.indexes) index.meter = std::make_shared<ThroughputMeter>(table.created);
  return table;
}

std::string encode_backup(const Backup& backup) {
  RecordWriter writer;
  writer.text("id", backup.id)
      .text("name", backup.name)
      .enumeration("type", backup.type)
      .time("created", backup.created)
      .time("expires", backup.expires)
      .time("deleted", backup.deleted)
      .bytes("table", encode_table(backup.table));
  return encode_catalog_record(std::move(writer));
}

base::Result<Backup> decode_backup(std::string_view bytes) {
  TRY(const item::Map map, decode_catalog_record(bytes));
  const RecordReader reader(map);
  Backup backup;
  backup.id = reader.text("id");
  backup.name = reader.text("name");
  backup.type = reader.enumeration<store::BackupType>("type");
  backup.created = reader.time("created");
  backup.expires = reader.optional_time("expires");
  backup.deleted = reader.optional_time("deleted");
  TRY(backup.table, decode_table(reader.optional_bytes("table").value_or("")));
  if (backup.id.empty()) return base::fail(base::ErrorCode::corrupt, "a backup record of the catalog lacks its id");
  return backup;
}

std::string encode_stream(const Stream& stream) {
  RecordWriter writer;
  writer.integer("id", stream.id)
      .text("table_name", stream.table_name)
      .text("label", stream.label)
      .enumeration("view", stream.view)
      .time("created", stream.created)
      .boolean("enabled", stream.enabled)
      .maps("key_schema", stream.key_schema,
            [](const store::KeyElement& element) {
              return std::move(RecordWriter().text("name", element.name).enumeration("role", element.role));
            })
      .maps("shards", stream.shards, write_shard)
      .integer("trimmed_until", static_cast<std::int64_t>(stream.trimmed_until));
  write_policy(writer, stream.policy);
  return encode_catalog_record(std::move(writer));
}

base::Result<Stream> decode_stream(std::string_view bytes) {
  TRY(const item::Map map, decode_catalog_record(bytes));
  const RecordReader reader(map);
  Stream stream;
  stream.id = static_cast<ObjectId>(reader.integer("id"));
  stream.table_name = reader.text("table_name");
  stream.label = reader.text("label");
  stream.view = reader.enumeration<store::StreamViewType>("view");
  stream.created = reader.time("created");
  stream.enabled = reader.boolean("enabled");
  for (const RecordReader& element : reader.maps("key_schema"))
    stream.key_schema.push_back({element.text("name"), element.enumeration<store::KeyRole>("role")});
  for (const RecordReader& shard : reader.maps("shards")) stream.shards.push_back(read_shard(shard));
  stream.trimmed_until = static_cast<RecordNumber>(reader.integer("trimmed_until"));
  stream.policy = read_policy(reader);
  if (stream.id == 0 || stream.shards.empty())
    return base::fail(base::ErrorCode::corrupt, "a stream record of the catalog lacks its id or its shards");
  return stream;
}

}  // namespace postino::engine
