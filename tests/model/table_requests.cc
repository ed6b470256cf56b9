#include <algorithm>

#include "model_table.h"
#include "request_builder.h"

namespace postino::model {

namespace {

store::KeySchema key_schema(const std::vector<std::string>& hash, const std::vector<std::string>& range) {
  store::KeySchema schema;
  for (const std::string& name : hash) schema.push_back({name, store::KeyRole::hash});
  for (const std::string& name : range) schema.push_back({name, store::KeyRole::range});
  return schema;
}

store::IndexProjection projection_of(const ModelIndex& index) {
  store::IndexProjection projection;
  projection.type = index.projection;
  if (index.projection == store::ProjectionType::include) projection.non_key_attributes = index.included;
  return projection;
}

}  // namespace

std::vector<store::AttributeDefinition> definitions_of(const ModelTable& table, const std::vector<std::string>& names) {
  std::vector<store::AttributeDefinition> definitions;
  for (const std::string& name : names)
    if (std::ranges::find(definitions, name, &store::AttributeDefinition::name) == definitions.end())
      definitions.push_back({name, table.types.at(name)});
  return definitions;
}

store::GlobalIndexDefinition global_definition(const ModelIndex& index) {
  store::GlobalIndexDefinition definition;
  definition.name = index.name;
  definition.key_schema = key_schema(index.hash, index.range);
  definition.projection = projection_of(index);
  return definition;
}

store::CreateTableRequest create_request(const ModelTable& table) {
  store::CreateTableRequest request;
  request.table_name = table.name;
  request.billing_mode = store::BillingMode::pay_per_request;
  request.key_schema = key_schema({table.hash}, table.range ? std::vector{*table.range} : std::vector<std::string>());
  std::vector<std::string> names = table.keys();
  for (const ModelIndex& index : table.indexes) {
    for (const std::string& name : index.keys()) names.push_back(name);
    if (index.global) {
      if (!request.global_indexes) request.global_indexes.emplace();
      request.global_indexes->push_back(global_definition(index));
    } else {
      if (!request.local_indexes) request.local_indexes.emplace();
      request.local_indexes->push_back({index.name, key_schema(index.hash, index.range), projection_of(index)});
    }
  }
  request.attribute_definitions = definitions_of(table, names);
  if (table.stream) request.stream = store::StreamSpecification{true, table.stream};
  return request;
}

}  // namespace postino::model
