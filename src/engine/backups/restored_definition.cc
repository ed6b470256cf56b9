#include "engine/backups/restored_definition.h"

#include <algorithm>
#include <set>

namespace postino::engine {

namespace {

store::IndexProjection projection_of(const Index& index) {
  store::IndexProjection projection{index.projection, std::nullopt};
  if (index.projection == store::ProjectionType::include) projection.non_key_attributes = index.non_key_attributes;
  return projection;
}

// Ceilings that are lifted are not set.
std::optional<store::OnDemandThroughput> set_ceilings(const std::optional<store::OnDemandThroughput>& ceilings) {
  if (!ceilings) return std::nullopt;
  const auto set = [](const std::optional<std::int64_t>& units) { return units && *units > 0 ? units : std::nullopt; };
  const store::OnDemandThroughput result{set(ceilings->max_read_units), set(ceilings->max_write_units)};
  return result.max_read_units || result.max_write_units ? std::optional(result) : std::nullopt;
}

bool is_same_projection(const Index& index, const store::IndexProjection& projection) {
  if (projection.type != index.projection) return false;
  std::vector<std::string> names = projection.non_key_attributes.value_or(std::vector<std::string>());
  std::ranges::sort(names);
  return names == index.non_key_attributes;
}

// The wanted indexes must be those of the source: a restore makes no other ones.
template <class Definition>
store::Answer<void> check_indexes(const Table& source, bool global, std::string_view member,
                                  const std::optional<std::vector<Definition>>& wanted) {
  if (!wanted) return {};
  for (const Definition& definition : *wanted) {
    const Index* index = source.find_index(definition.name);
    if (index == nullptr || index->global != global || key_schema_of(*index) != definition.key_schema ||
        !is_same_projection(*index, definition.projection))
      return store::refuse_parameter(std::string(member) +
                                     " must match the indexes of the source table. Index: " + definition.name);
  }
  return {};
}

// Throughput as the billing mode of the new table has it.
class NewThroughput {
 public:
  NewThroughput(const Table& source, store::BillingMode mode) : same_mode_(source.billing_mode == mode), mode_(mode) {}

  std::optional<store::Throughput> provisioned(const store::Throughput& of_source) const {
    if (!same_mode_ || mode_ != store::BillingMode::provisioned) return std::nullopt;
    return of_source;
  }
  std::optional<store::OnDemandThroughput> on_demand(const std::optional<store::OnDemandThroughput>& of_source) const {
    if (mode_ != store::BillingMode::pay_per_request) return std::nullopt;
    return set_ceilings(of_source);
  }

 private:
  const bool same_mode_;
  const store::BillingMode mode_;
};

void take_indexes(const Table& source, const NewThroughput& throughput, const store::RestoreOverrides& overrides,
                  store::CreateTableRequest& request) {
  std::vector<store::LocalIndexDefinition> local;
  std::vector<store::GlobalIndexDefinition> global;
  for (const Index& index : source.indexes) {
    if (index.global)
      global.push_back({index.name, key_schema_of(index), projection_of(index),
                        throughput.provisioned(index.throughput.provisioned), throughput.on_demand(index.on_demand),
                        std::nullopt});
    else
      local.push_back({index.name, key_schema_of(index), projection_of(index)});
  }
  if (overrides.local_indexes) local = *overrides.local_indexes;
  if (overrides.global_indexes) global = *overrides.global_indexes;
  if (!local.empty()) request.local_indexes = std::move(local);
  if (!global.empty()) request.global_indexes = std::move(global);
}

// Those of attributes that are keys.
void take_definitions(const Table& source, store::CreateTableRequest& request) {
  std::set<std::string_view> used;
  const auto use = [&](const store::KeySchema& schema) {
    for (const store::KeyElement& element : schema) used.insert(element.name);
  };
  use(request.key_schema);
  if (request.local_indexes)
    for (const store::LocalIndexDefinition& index : *request.local_indexes) use(index.key_schema);
  if (request.global_indexes)
    for (const store::GlobalIndexDefinition& index : *request.global_indexes) use(index.key_schema);
  for (const store::AttributeDefinition& definition : source.attribute_definitions)
    if (used.contains(definition.name)) request.attribute_definitions.push_back(definition);
}

}  // namespace

store::Answer<store::CreateTableRequest> restored_definition(const Table& source, const std::string& target,
                                                             const store::RestoreOverrides& overrides) {
  TRY_VOID(check_indexes(source, false, "LocalSecondaryIndexOverride", overrides.local_indexes));
  TRY_VOID(check_indexes(source, true, "GlobalSecondaryIndexOverride", overrides.global_indexes));
  store::CreateTableRequest request;
  request.table_name = target;
  request.key_schema = key_schema_of(source);
  request.billing_mode = overrides.billing_mode.value_or(source.billing_mode);
  const NewThroughput throughput(source, *request.billing_mode);
  request.throughput =
      overrides.throughput ? overrides.throughput : throughput.provisioned(source.throughput.provisioned);
  request.on_demand = overrides.on_demand ? overrides.on_demand : throughput.on_demand(source.on_demand);
  request.encryption = overrides.encryption ? overrides.encryption : source.encryption;
  take_indexes(source, throughput, overrides, request);
  take_definitions(source, request);
  return request;
}

}  // namespace postino::engine
