#include "wire/protocol/table_inputs.h"

#include "store/constraints.h"
#include "wire/protocol/enums.h"
#include "wire/protocol/parameters.h"

namespace postino::wire {

namespace {

using store::Constraints;

std::string list_path(std::string_view list, std::size_t index) {
  return std::string(list) + "." + std::to_string(index + 1) + ".member";
}

void check_definitions(Constraints& constraints, const std::vector<AttributeDefinitionInput>& definitions) {
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    const std::string path = list_path("attributeDefinitions", i);
    constraints.check_not_null(path + ".attributeName", definitions[i].name.has_value());
    require_word<item::Type>(constraints, path + ".attributeType", definitions[i].type);
  }
}

void check_key_schema(Constraints& constraints, const std::string& path,
                      const std::optional<std::vector<KeyElementInput>>& schema) {
  constraints.check_not_null(path, schema.has_value());
  for (std::size_t i = 0; schema && i < schema->size(); ++i) {
    const std::string element = list_path(path, i);
    constraints.check_not_null(element + ".attributeName", (*schema)[i].name.has_value());
    require_word<store::KeyRole>(constraints, element + ".keyType", (*schema)[i].type);
  }
}

void check_throughput(Constraints& constraints, const std::string& path,
                      const std::optional<ThroughputInput>& throughput) {
  if (!throughput) return;
  constraints.check_not_null(path + ".writeCapacityUnits", throughput->write_units.has_value());
  constraints.check_not_null(path + ".readCapacityUnits", throughput->read_units.has_value());
}

void check_index(Constraints& constraints, const std::string& path, const IndexInput& index) {
  constraints.check_not_null(path + ".projection", index.projection.has_value());
  if (index.projection)
    check_word<store::ProjectionType>(constraints, path + ".projection.projectionType", index.projection->type);
  constraints.check_not_null(path + ".indexName", index.name.has_value());
  check_throughput(constraints, path + ".provisionedThroughput", index.throughput);
  check_key_schema(constraints, path + ".keySchema", index.key_schema);
}

void check_indexes(Constraints& constraints, std::string_view list, const std::optional<std::vector<IndexInput>>& all) {
  for (std::size_t i = 0; all && i < all->size(); ++i) check_index(constraints, list_path(list, i), (*all)[i]);
}

void check_stream(Constraints& constraints, const std::optional<StreamSpecificationInput>& stream) {
  if (!stream) return;
  constraints.check_not_null("streamSpecification.streamEnabled", stream->enabled.has_value());
  check_word<store::StreamViewType>(constraints, "streamSpecification.streamViewType", stream->view_type);
}

// TableClass has a text of its own.
store::Answer<void> check_table_class(const std::optional<std::string>& word) {
  if (!word || value_of<store::TableClass>(*word)) return {};
  return store::refuse_invalid(
      "Invalid table-class parameter provided. Please try again with a valid table-class value: [STANDARD, "
      "STANDARD_INFREQUENT_ACCESS].");
}

void check_index_updates(Constraints& constraints, const std::optional<std::vector<IndexUpdateInput>>& updates) {
  for (std::size_t i = 0; updates && i < updates->size(); ++i) {
    const std::string path = list_path("globalSecondaryIndexUpdates", i);
    const IndexUpdateInput& update = (*updates)[i];
    if (update.update) {
      constraints.check_not_null(path + ".update.indexName", update.update->name.has_value());
      check_throughput(constraints, path + ".update.provisionedThroughput", update.update->throughput);
    }
    if (update.create) check_index(constraints, path + ".create", *update.create);
    if (update.remove) constraints.check_not_null(path + ".delete.indexName", update.remove->name.has_value());
  }
}

std::vector<store::AttributeDefinition> definitions_of(std::vector<AttributeDefinitionInput> inputs) {
  std::vector<store::AttributeDefinition> definitions;
  for (AttributeDefinitionInput& input : inputs)
    definitions.push_back({*std::move(input.name), *value_of<item::Type>(*input.type)});
  return definitions;
}

store::KeySchema key_schema_of(std::vector<KeyElementInput> inputs) {
  store::KeySchema schema;
  for (KeyElementInput& input : inputs)
    schema.push_back({*std::move(input.name), *value_of<store::KeyRole>(*input.type)});
  return schema;
}

store::IndexProjection projection_of(ProjectionInput input) {
  store::IndexProjection projection;
  if (input.type) projection.type = value_of<store::ProjectionType>(*input.type);
  projection.non_key_attributes = std::move(input.non_key_attributes);
  return projection;
}

template <class Input>
std::optional<store::Throughput> throughput_of(const std::optional<Input>& input) {
  if (!input) return std::nullopt;
  return store::Throughput{input->read_units.value_or(0), input->write_units.value_or(0)};
}

std::optional<store::OnDemandThroughput> on_demand_of(const std::optional<OnDemandInput>& input) {
  if (!input) return std::nullopt;
  return store::OnDemandThroughput{input->max_read_units, input->max_write_units};
}

store::GlobalIndexDefinition global_index_of(IndexInput input) {
  store::GlobalIndexDefinition index;
  index.name = *std::move(input.name);
  index.key_schema = key_schema_of(*std::move(input.key_schema));
  index.projection = projection_of(*std::move(input.projection));
  index.throughput = throughput_of(input.throughput);
  index.on_demand = on_demand_of(input.on_demand);
  index.warm = throughput_of(input.warm);
  return index;
}

store::LocalIndexDefinition local_index_of(IndexInput input) {
  return {*std::move(input.name), key_schema_of(*std::move(input.key_schema)),
          projection_of(*std::move(input.projection))};
}

std::optional<std::vector<store::LocalIndexDefinition>> local_indexes_of(
    std::optional<std::vector<IndexInput>> inputs) {
  if (!inputs) return std::nullopt;
  std::vector<store::LocalIndexDefinition> indexes;
  for (IndexInput& input : *inputs) indexes.push_back(local_index_of(std::move(input)));
  return indexes;
}

std::optional<std::vector<store::GlobalIndexDefinition>> global_indexes_of(
    std::optional<std::vector<IndexInput>> inputs) {
  if (!inputs) return std::nullopt;
  std::vector<store::GlobalIndexDefinition> indexes;
  for (IndexInput& input : *inputs) indexes.push_back(global_index_of(std::move(input)));
  return indexes;
}

std::optional<store::StreamSpecification> stream_of(const std::optional<StreamSpecificationInput>& input) {
  if (!input) return std::nullopt;
  store::StreamSpecification stream;
  stream.enabled = *input->enabled;
  if (input->view_type) stream.view_type = value_of<store::StreamViewType>(*input->view_type);
  return stream;
}

std::optional<store::EncryptionSpecification> encryption_of(std::optional<EncryptionInput> input) {
  if (!input) return std::nullopt;
  return store::EncryptionSpecification{input->enabled.value_or(false), std::move(input->type),
                                        std::move(input->key_id)};
}

// The members that both operations have.
template <class Request>
void fill_table(Request& request, TableInput& input) {
  request.table_name = *std::move(input.table_name);
  if (input.attribute_definitions)
    request.attribute_definitions = definitions_of(*std::move(input.attribute_definitions));
  if (input.billing_mode) request.billing_mode = value_of<store::BillingMode>(*input.billing_mode);
  request.throughput = throughput_of(input.throughput);
  request.on_demand = on_demand_of(input.on_demand);
  request.warm = throughput_of(input.warm);
  request.stream = stream_of(input.stream);
  request.encryption = encryption_of(std::move(input.encryption));
  if (input.table_class) request.table_class = value_of<store::TableClass>(*input.table_class);
}

}  // namespace

store::Answer<store::CreateTableRequest> decode_create_table(TableInput input) {
  if (!input.table_name) return store::refuse_invalid(std::string(missing_table_name));
  TRY_VOID(store::check_table_name(*input.table_name));
  Constraints constraints;
  constraints.check_not_null("attributeDefinitions", input.attribute_definitions.has_value());
  if (input.attribute_definitions) check_definitions(constraints, *input.attribute_definitions);
  check_word<store::BillingMode>(constraints, "billingMode", input.billing_mode);
  check_throughput(constraints, "provisionedThroughput", input.throughput);
  check_key_schema(constraints, "keySchema", input.key_schema);
  check_indexes(constraints, "localSecondaryIndexes", input.local_indexes);
  check_indexes(constraints, "globalSecondaryIndexes", input.global_indexes);
  check_stream(constraints, input.stream);
  TRY_VOID(constraints.outcome());
  TRY_VOID(check_table_class(input.table_class));

  store::CreateTableRequest request;
  fill_table(request, input);
  request.key_schema = key_schema_of(*std::move(input.key_schema));
  request.local_indexes = local_indexes_of(std::move(input.local_indexes));
  request.global_indexes = global_indexes_of(std::move(input.global_indexes));
  request.deletion_protection = input.deletion_protection.value_or(false);
  if (input.tags) request.tags = tags_of(*std::move(input.tags));
  request.resource_policy = std::move(input.resource_policy);
  return request;
}

store::Answer<store::UpdateTableRequest> decode_update_table(TableInput input) {
  if (!input.table_name) return store::refuse_invalid(std::string(missing_table_name));
  input.table_name = table_of(*std::move(input.table_name));
  TRY_VOID(store::check_table_name(*input.table_name));
  Constraints constraints;
  if (input.attribute_definitions) check_definitions(constraints, *input.attribute_definitions);
  check_throughput(constraints, "provisionedThroughput", input.throughput);
  check_word<store::BillingMode>(constraints, "billingMode", input.billing_mode);
  check_index_updates(constraints, input.global_index_updates);
  check_stream(constraints, input.stream);
  TRY_VOID(constraints.outcome());
  TRY_VOID(check_table_class(input.table_class));

  if (input.replica_updates && !input.replica_updates->empty())
    return store::refuse_parameter(
        "ReplicaUpdates cannot be done by this server: it is one machine, or several that share one store");

  store::UpdateTableRequest request;
  fill_table(request, input);
  request.deletion_protection = input.deletion_protection;
  for (std::size_t i = 0; input.global_index_updates && i < input.global_index_updates->size(); ++i) {
    IndexUpdateInput& update = (*input.global_index_updates)[i];
    const int actions =
        int{update.create.has_value()} + int{update.update.has_value()} + int{update.remove.has_value()};
    if (actions > 1)
      return store::refuse_parameter(
          "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object");
    if (update.create) {
      request.global_index_updates.emplace_back(store::CreateGlobalIndex{global_index_of(*std::move(update.create))});
    } else if (update.update) {
      request.global_index_updates.emplace_back(
          store::UpdateGlobalIndex{*std::move(update.update->name), throughput_of(update.update->throughput),
                                   on_demand_of(update.update->on_demand), throughput_of(update.update->warm)});
    } else if (update.remove) {
      request.global_index_updates.emplace_back(store::DeleteGlobalIndex{*std::move(update.remove->name)});
    } else {
      return store::refuse_parameter(
          "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
          "GlobalSecondaryIndexUpdate.Delete must not be null");
    }
  }
  return request;
}

void check_overrides(Constraints& constraints, const RestoreOverridesInput& input) {
  check_word<store::BillingMode>(constraints, "billingModeOverride", input.billing_mode);
  check_throughput(constraints, "provisionedThroughputOverride", input.throughput);
  check_indexes(constraints, "localSecondaryIndexOverride", input.local_indexes);
  check_indexes(constraints, "globalSecondaryIndexOverride", input.global_indexes);
}

store::RestoreOverrides overrides_of(RestoreOverridesInput input) {
  store::RestoreOverrides overrides;
  overrides.billing_mode = value_if_given<store::BillingMode>(input.billing_mode);
  overrides.throughput = throughput_of(input.throughput);
  overrides.on_demand = on_demand_of(input.on_demand);
  overrides.local_indexes = local_indexes_of(std::move(input.local_indexes));
  overrides.global_indexes = global_indexes_of(std::move(input.global_indexes));
  overrides.encryption = encryption_of(std::move(input.encryption));
  return overrides;
}

std::vector<store::Tag> tags_of(std::vector<TagInput> inputs) {
  std::vector<store::Tag> tags;
  for (TagInput& input : inputs)
    tags.push_back({std::move(input.key).value_or(""), std::move(input.value).value_or("")});
  return tags;
}

}  // namespace postino::wire
