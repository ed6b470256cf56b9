#include "engine/rules/create_table_rules.h"

#include <algorithm>

#include "engine/rules/encryption_rules.h"
#include "engine/rules/index_rules.h"
#include "engine/rules/key_schema_rules.h"
#include "engine/rules/tag_rules.h"
#include "engine/rules/throughput_rules.h"
#include "store/constraints.h"

namespace postino::engine {

namespace {

store::Answer<void> check_create_shape(const store::CreateTableRequest& request) {
  store::Constraints constraints;
  constrain_definitions(constraints, request.attribute_definitions);
  constraints.check_name("tableName", request.table_name);
  if (request.throughput) constrain_throughput(constraints, "provisionedThroughput", *request.throughput);
  constraints.check_count("keySchema", request.key_schema.size(), 1, 2, key_schema_text(request.key_schema));
  constrain_key_schema(constraints, "keySchema", request.key_schema);
  if (request.local_indexes)
    for (std::size_t i = 0; i < request.local_indexes->size(); ++i)
      constrain(constraints, "localSecondaryIndexes." + std::to_string(i + 1) + ".member", (*request.local_indexes)[i]);
  if (request.global_indexes)
    for (std::size_t i = 0; i < request.global_indexes->size(); ++i)
      constrain(constraints, "globalSecondaryIndexes." + std::to_string(i + 1) + ".member",
                (*request.global_indexes)[i]);
  return constraints.outcome();
}

store::Answer<void> check_index_lists(const store::CreateTableRequest& request) {
  if (request.local_indexes) {
    if (request.local_indexes->empty()) return store::refuse_parameter("List of LocalSecondaryIndexes is empty");
    if (request.key_schema.size() != 2)
      return store::refuse_parameter(
          "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex");
  }
  if (request.global_indexes && request.global_indexes->empty())
    return store::refuse_parameter("List of GlobalSecondaryIndexes is empty");
  return {};
}

// Every key has a definition and every definition is a key of something.
store::Answer<void> check_definitions(const store::CreateTableRequest& request) {
  std::vector<std::string> used = names_of(request.key_schema);
  const auto use = [&](const store::KeySchema& schema, bool local) -> store::Answer<void> {
    TRY_VOID(check_defined(schema, request.attribute_definitions));
    TRY_VOID(check_distinct_names(schema, local));
    for (const store::KeyElement& element : schema)
      if (std::ranges::find(used, element.name) == used.end()) used.push_back(element.name);
    return {};
  };
  if (request.local_indexes)
    for (const store::LocalIndexDefinition& index : *request.local_indexes) TRY_VOID(use(index.key_schema, true));
  if (request.global_indexes)
    for (const store::GlobalIndexDefinition& index : *request.global_indexes) TRY_VOID(use(index.key_schema, false));
  if (used.size() == request.attribute_definitions.size()) return {};
  if (!request.local_indexes && !request.global_indexes)
    return store::refuse_parameter(
        "Number of attributes in KeySchema does not exactly match number of attributes defined in "
        "AttributeDefinitions");
  return store::refuse_parameter("Some AttributeDefinitions are not used. AttributeDefinitions: " +
                                 store::list_text(names_of(request.attribute_definitions)) +
                                 ", keys used: " + store::list_text(used));
}

store::Answer<void> check_projections(const store::CreateTableRequest& request) {
  std::size_t count = 0;
  const auto add = [&](const store::IndexProjection& projection) {
    if (projection.non_key_attributes) count += projection.non_key_attributes->size();
  };
  if (request.local_indexes)
    for (const store::LocalIndexDefinition& index : *request.local_indexes) add(index.projection);
  if (request.global_indexes)
    for (const store::GlobalIndexDefinition& index : *request.global_indexes) add(index.projection);
  return check_projected_attributes(count);
}

store::Answer<void> check_new_stream(const std::optional<store::StreamSpecification>& stream) {
  if (!stream || stream->enabled == stream->view_type.has_value()) return {};
  return store::refuse_parameter(
      stream->enabled ? "Table is being created with a stream enabled, UpdateViewType is required"
                      : "Table is being created with a stream disabled, UpdateViewType should not be specified");
}

}  // namespace

store::Answer<void> check_create_table(const store::CreateTableRequest& request) {
  TRY_VOID(check_create_shape(request));
  TRY_VOID(check_new_table_throughput(request));
  TRY_VOID(check_table_keys(request.key_schema, request.attribute_definitions));
  TRY_VOID(check_index_lists(request));
  TRY_VOID(check_definitions(request));
  TRY_VOID(check_local_indexes(request));
  TRY_VOID(check_global_indexes(request));
  TRY_VOID(check_projections(request));
  TRY_VOID(check_new_stream(request.stream));
  if (request.encryption) TRY_VOID(check_encryption(*request.encryption));
  return check_tags(request.tags);
}

}  // namespace postino::engine
