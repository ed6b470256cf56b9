#include "engine/tables/index_update.h"

#include <algorithm>

#include "engine/rules/index_rules.h"
#include "engine/rules/key_schema_rules.h"
#include "engine/rules/throughput_rules.h"
#include "engine/rules/update_table_rules.h"
#include "engine/tables/table_definition.h"
#include "engine/tables/throughput_change.h"
#include "store/constraints.h"

namespace postino::engine {

namespace {

using Definitions = std::vector<store::AttributeDefinition>;

store::Answer<Index*> find_global(Table& table, const std::string& name, std::string_view verb) {
  Index* index = table.find_index(name);
  if (index == nullptr)
    return store::refuse(store::ErrorType::resource_not_found,
                         "Requested resource not found: Index " + name + " for table " + table.name);
  if (!index->global)
    return store::refuse_invalid("Cannot " + std::string(verb) +
                                 " an index that is not a GlobalSecondaryIndex: " + name);
  return index;
}

// One creation or deletion at a time. An index that is still being filled may be deleted itself.
store::Answer<void> check_one_at_a_time(const Table& table, const store::UpdateTableRequest& request) {
  const std::size_t changes = count_index_changes(request);
  bool busy = changes > 1;
  for (const store::GlobalIndexUpdate& update : request.global_index_updates) {
    if (std::holds_alternative<store::UpdateGlobalIndex>(update)) continue;
    busy = busy || std::ranges::any_of(table.indexes, [&](const Index& index) {
             return !index.ready() && index.name != index_name_of(update);
           });
  }
  if (busy)
    return store::refuse(
        store::ErrorType::limit_exceeded,
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table");
  return {};
}

std::string schema_text(const store::KeySchema& schema, const Definitions& definitions) {
  std::vector<std::string> elements;
  for (const store::KeyElement& element : schema) {
    const store::AttributeDefinition* definition = find_definition(definitions, element.name);
    elements.push_back("SchemaElement: key{" + element.name + ":" +
                       std::string(definition == nullptr ? "" : item::type_name(definition->type)) + ":" +
                       (element.role == store::KeyRole::hash ? "HASH" : "RANGE") + "}");
  }
  return "Schema:" + store::list_text(elements);
}

// The schema, of table or index, that an attribute is a key of.
store::KeySchema schema_with(const Table& table, const std::string& attribute) {
  if (table.is_key(attribute)) return key_schema_of(table);
  for (const Index& index : table.indexes) {
    store::KeySchema schema = key_schema_of(index);
    if (std::ranges::find(schema, attribute, &store::KeyElement::name) != schema.end()) return schema;
  }
  return {};
}

// The table's definitions and those of the request that the new index needs.
store::Answer<Definitions> merge_definitions(const Table& table, const Definitions& given,
                                             const store::KeySchema& schema) {
  Definitions merged = table.attribute_definitions;
  for (const store::KeyElement& element : schema) {
    const store::AttributeDefinition* wanted = find_definition(given, element.name);
    const store::AttributeDefinition* existing = find_definition(merged, element.name);
    if (wanted != nullptr && existing == nullptr) merged.push_back(*wanted);
    if (wanted != nullptr && existing != nullptr && wanted->type != existing->type)
      return store::refuse_invalid(
          "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. "
          "Existing schema: " +
          schema_text(schema_with(table, element.name), table.attribute_definitions) +
          " New schema: " + schema_text(schema, given));
  }
  TRY_VOID(check_defined(schema, merged));
  std::ranges::sort(merged, {}, &store::AttributeDefinition::name);
  return merged;
}

store::Answer<void> check_room(const Table& table, const store::GlobalIndexDefinition& definition) {
  if (std::ranges::count(table.indexes, true, &Index::global) >= static_cast<int>(store::max_global_indexes))
    return store::refuse(store::ErrorType::limit_exceeded,
                         "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of " +
                             std::to_string(store::max_global_indexes));
  std::size_t projected =
      definition.projection.non_key_attributes ? definition.projection.non_key_attributes->size() : 0;
  for (const Index& index : table.indexes) projected += index.non_key_attributes.size();
  return check_projected_attributes(projected);
}

store::Answer<void> create_index(Table& table, const store::GlobalIndexDefinition& definition, const Definitions& given,
                                 base::TimePoint now) {
  if (given.empty())
    return store::refuse_parameter("AttributeDefinitions is not specified for index: " + definition.name);
  TRY(Definitions merged, merge_definitions(table, given, definition.key_schema));
  TRY_VOID(check_global_index_keys(definition.key_schema));
  TRY_VOID(check_projection(definition.projection));
  TRY_VOID(check_added_index_throughput(definition, table.billing_mode));
  if (table.find_index(definition.name) != nullptr)
    return store::refuse_invalid("Attempting to create an index which already exists");
  TRY_VOID(check_room(table, definition));
  table.attribute_definitions = std::move(merged);
  table.indexes.push_back(make_index(definition, table, now));
  return {};
}

store::Answer<void> change_index(Table& table, const store::UpdateGlobalIndex& update, base::TimePoint now) {
  TRY(Index * index, find_global(table, update.name, "update"));
  if (!update.throughput && !update.on_demand && !update.warm)
    return store::refuse_parameter("ProvisionedThroughput must be specified for index: " + update.name);
  if (update.throughput) {
    if (table.billing_mode == store::BillingMode::pay_per_request)
      return store::refuse_parameter("The only Updates for index: " + update.name +
                                     " when TableThroughputMode is PAY_PER_REQUEST can be to OnDemandThroughput, "
                                     "WarmThroughput");
    if (!check_bounds(*update.throughput))
      return store::refuse_invalid(
          "This operation cannot be performed with given input values. Please contact DynamoDB service team for more "
          "info: Action Blocked: IndexUpdate");
    TRY_VOID(change_provisioned(index->throughput, *update.throughput, update.name, now));
    raise_warm(index->warm, *update.throughput);
  }
  if (update.on_demand) {
    TRY_VOID(check_on_demand_change(*update.on_demand, table.billing_mode, update.name));
    change_on_demand(index->on_demand, *update.on_demand);
  }
  if (update.warm) {
    TRY_VOID(check_warm_change(*update.warm, index->warm, update.name));
    raise_warm(index->warm, *update.warm);
  }
  return {};
}

store::Answer<Index> remove_index(Table& table, const std::string& name) {
  TRY(const Index* index, find_global(table, name, "delete"));
  Index removed = *index;
  std::erase_if(table.indexes, [&](const Index& other) { return other.id == removed.id; });
  std::erase_if(table.attribute_definitions, [&](const store::AttributeDefinition& definition) {
    return schema_with(table, definition.name).empty();
  });
  return removed;
}

}  // namespace

store::Answer<IndexChanges> update_indexes(Table& table, const store::UpdateTableRequest& request,
                                           base::TimePoint now) {
  IndexChanges changes;
  TRY_VOID(check_one_at_a_time(table, request));
  for (const store::GlobalIndexUpdate& update : request.global_index_updates) {
    if (const auto* changed = std::get_if<store::UpdateGlobalIndex>(&update))
      TRY_VOID(change_index(table, *changed, now));
    if (const auto* deleted = std::get_if<store::DeleteGlobalIndex>(&update)) {
      TRY(Index removed, remove_index(table, deleted->name));
      changes.removed = std::move(removed);
    }
  }
  for (const store::GlobalIndexUpdate& update : request.global_index_updates)
    if (const auto* created = std::get_if<store::CreateGlobalIndex>(&update)) {
      TRY_VOID(create_index(table, created->definition, request.attribute_definitions, now));
      changes.created = created->definition.name;
    }
  return changes;
}

}  // namespace postino::engine
