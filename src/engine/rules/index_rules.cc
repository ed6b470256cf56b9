#include "engine/rules/index_rules.h"

#include <set>

#include "engine/rules/key_schema_rules.h"
#include "engine/rules/throughput_rules.h"

namespace postino::engine {

namespace {

constexpr std::size_t max_key_name_length = 255;

void constrain_projection(store::Constraints& constraints, const std::string& path,
                          const store::IndexProjection& projection) {
  if (!projection.non_key_attributes) return;
  const std::vector<std::string>& names = *projection.non_key_attributes;
  const std::string list = store::list_text(names);
  const std::string member = path + ".projection.nonKeyAttributes";
  constraints.check_count(member, names.size(), 1, max_non_key_attributes, list);
  for (const std::string& name : names) {
    if (!name.empty() && name.size() <= max_key_name_length) continue;
    constraints.refuse(member, list,
                       "Member must satisfy constraint: [Member must have length less than or equal to 255, "
                       "Member must have length greater than or equal to 1]");
    break;
  }
}

std::string_view type_text(store::ProjectionType type) {
  switch (type) {
    case store::ProjectionType::all:
      return "ALL";
    case store::ProjectionType::keys_only:
      return "KEYS_ONLY";
    case store::ProjectionType::include:
      return "INCLUDE";
  }
  return "";
}

store::Answer<void> check_local_index(const store::LocalIndexDefinition& index, const store::KeySchema& table_keys) {
  TRY_VOID(check_simple_keys(index.key_schema));
  if (index.key_schema.size() != 2)
    return store::refuse_parameter("Index KeySchema does not have a range key for index: " + index.name);
  const std::string& hash = index.key_schema.front().name;
  const std::string& table_hash = table_keys.front().name;
  if (hash != table_hash)
    return store::refuse_parameter(
        "Index KeySchema does not have the same leading hash key as table KeySchema for index: " + index.name +
        ". index hash key: " + hash + ", table hash key: " + table_hash);
  return check_projection(index.projection);
}

store::Answer<void> check_unique(std::set<std::string_view>& names, const std::string& name) {
  if (!names.insert(name).second) return store::refuse_parameter("Duplicate index name: " + name);
  return {};
}

}  // namespace

void constrain_key_schema(store::Constraints& constraints, const std::string& path, const store::KeySchema& schema) {
  for (std::size_t i = 0; i < schema.size(); ++i)
    constraints.check_length(path + "." + std::to_string(i + 1) + ".member.attributeName", schema[i].name, 1,
                             max_key_name_length);
}

void constrain(store::Constraints& constraints, const std::string& path, const store::LocalIndexDefinition& index) {
  constraints.check_name(path + ".indexName", index.name);
  constraints.check_count(path + ".keySchema", index.key_schema.size(), 1, 2, key_schema_text(index.key_schema));
  constrain_key_schema(constraints, path + ".keySchema", index.key_schema);
  constrain_projection(constraints, path, index.projection);
}

void constrain(store::Constraints& constraints, const std::string& path, const store::GlobalIndexDefinition& index) {
  constraints.check_name(path + ".indexName", index.name);
  if (index.throughput) constrain_throughput(constraints, path + ".provisionedThroughput", *index.throughput);
  constraints.check_count(path + ".keySchema", index.key_schema.size(), 1, store::Constraints::any_number, "[]");
  constrain_key_schema(constraints, path + ".keySchema", index.key_schema);
  constrain_projection(constraints, path, index.projection);
}

store::Answer<void> check_projection(const store::IndexProjection& projection) {
  if (!projection.type) return store::refuse_parameter("Unknown ProjectionType: null");
  const std::string type(type_text(*projection.type));
  const bool include = *projection.type == store::ProjectionType::include;
  if (!include && projection.non_key_attributes)
    return store::refuse_parameter("ProjectionType is " + type + ", but NonKeyAttributes is specified");
  if (!include) return {};
  if (!projection.non_key_attributes)
    return store::refuse_parameter("ProjectionType is INCLUDE, but NonKeyAttributes is not specified");
  std::set<std::string_view> names;
  for (const std::string& name : *projection.non_key_attributes)
    if (!names.insert(name).second) return store::refuse_parameter("Duplicate element in NonKeyAttributes: " + name);
  return {};
}

store::Answer<void> check_local_indexes(const store::CreateTableRequest& request) {
  if (!request.local_indexes) return {};
  std::set<std::string_view> names;
  for (const store::LocalIndexDefinition& index : *request.local_indexes) {
    TRY_VOID(check_local_index(index, request.key_schema));
    TRY_VOID(check_unique(names, index.name));
  }
  if (request.local_indexes->size() > store::max_local_indexes)
    return store::refuse_parameter("Number of LocalSecondaryIndexes exceeds per-table limit of " +
                                   std::to_string(store::max_local_indexes));
  return {};
}

store::Answer<void> check_global_indexes(const store::CreateTableRequest& request) {
  if (!request.global_indexes) return {};
  std::set<std::string_view> names;
  if (request.local_indexes)
    for (const store::LocalIndexDefinition& index : *request.local_indexes) names.insert(index.name);
  const store::BillingMode billing_mode = request.billing_mode.value_or(store::BillingMode::provisioned);
  for (const store::GlobalIndexDefinition& index : *request.global_indexes) {
    TRY_VOID(check_global_index_keys(index.key_schema));
    TRY_VOID(check_projection(index.projection));
    TRY_VOID(check_new_table_index_throughput(index, billing_mode));
    TRY_VOID(check_unique(names, index.name));
  }
  if (request.global_indexes->size() > store::max_global_indexes)
    return store::refuse_parameter("GlobalSecondaryIndex count exceeds the per-table limit of " +
                                   std::to_string(store::max_global_indexes));
  return {};
}

store::Answer<void> check_projected_attributes(std::size_t count) {
  if (count > max_projected_attributes)
    return store::refuse_parameter("Number of NonKeyAttributes of all secondary indexes exceeds per-table limit of " +
                                   std::to_string(max_projected_attributes));
  return {};
}

}  // namespace postino::engine
