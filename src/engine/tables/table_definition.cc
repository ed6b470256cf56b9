#include "engine/tables/table_definition.h"

#include <algorithm>

#include "base/check.h"
#include "engine/rules/encryption_rules.h"
#include "engine/rules/key_schema_rules.h"
#include "engine/rules/throughput_rules.h"

namespace postino::engine {

namespace {

KeyPart key_part(const Table& table, const std::string& name) {
  const store::AttributeDefinition* definition = find_definition(table.attribute_definitions, name);
  CHECK(definition != nullptr);
  return {name, definition->type};
}

// DynamoDB shows definitions and projected attributes in the order of their names.
std::vector<store::AttributeDefinition> sorted(std::vector<store::AttributeDefinition> definitions) {
  std::ranges::sort(definitions, {}, &store::AttributeDefinition::name);
  return definitions;
}

Index make_index(const std::string& name, const store::KeySchema& schema, const store::IndexProjection& projection,
                 const Table& table) {
  Index index;
  index.name = name;
  for (const store::KeyElement& element : schema)
    (element.role == store::KeyRole::hash ? index.hash : index.range).push_back(key_part(table, element.name));
  index.projection = projection.type.value();
  index.non_key_attributes = projection.non_key_attributes.value_or(std::vector<std::string>());
  std::ranges::sort(index.non_key_attributes);
  work_out_kept_attributes(index, table);
  index.statistics = std::make_shared<Statistics>();
  return index;
}

store::Throughput first_warm(store::BillingMode billing_mode, const store::Throughput& provisioned,
                             const std::optional<store::Throughput>& wanted) {
  store::Throughput warm = billing_mode == store::BillingMode::pay_per_request ? initial_on_demand : provisioned;
  if (wanted) raise_warm(warm, *wanted);
  return warm;
}

}  // namespace

void raise_warm(store::Throughput& warm, const store::Throughput& level) {
  warm.read_units = std::max(warm.read_units, level.read_units);
  warm.write_units = std::max(warm.write_units, level.write_units);
}

Index make_index(const store::GlobalIndexDefinition& definition, const Table& table, base::TimePoint now) {
  Index index = make_index(definition.name, definition.key_schema, definition.projection, table);
  index.throughput.provisioned = definition.throughput.value_or(store::Throughput{});
  index.on_demand = definition.on_demand;
  index.warm = first_warm(table.billing_mode, index.throughput.provisioned, definition.warm);
  index.meter = std::make_shared<ThroughputMeter>(now);
  return index;
}

Table make_table(const store::CreateTableRequest& request, const Options& options, base::TimePoint now) {
  Table table;
  table.name = request.table_name;
  table.uuid = base::make_uuid(*options.random);
  table.created = now;
  table.attribute_definitions = sorted(request.attribute_definitions);
  table.hash = key_part(table, request.key_schema.front().name);
  if (request.key_schema.size() > 1) table.range = key_part(table, request.key_schema[1].name);
  table.billing_mode = request.billing_mode.value_or(store::BillingMode::provisioned);
  if (table.billing_mode == store::BillingMode::pay_per_request) table.last_switch_to_pay_per_request = now;
  table.throughput.provisioned = request.throughput.value_or(store::Throughput{});
  table.on_demand = request.on_demand;
  table.warm = first_warm(table.billing_mode, table.throughput.provisioned, request.warm);
  if (request.local_indexes)
    for (const store::LocalIndexDefinition& definition : *request.local_indexes) {
      table.indexes.push_back(make_index(definition.name, definition.key_schema, definition.projection, table));
      table.indexes.back().global = false;
    }
  if (request.global_indexes)
    for (const store::GlobalIndexDefinition& definition : *request.global_indexes)
      table.indexes.push_back(make_index(definition, table, now));
  table.table_class = request.table_class;
  if (request.encryption && request.encryption->enabled)
    table.encryption = resolve_encryption(*request.encryption, options);
  table.deletion_protection = request.deletion_protection;
  table.tags = request.tags;
  if (request.resource_policy)
    table.policy = std::make_shared<const store::ResourcePolicy>(
        store::ResourcePolicy{*request.resource_policy, std::to_string(base::epoch_milliseconds(now)), now});
  table.statistics = std::make_shared<Statistics>();
  table.meter = std::make_shared<ThroughputMeter>(now);
  return table;
}

}  // namespace postino::engine
