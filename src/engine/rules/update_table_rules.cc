#include "engine/rules/update_table_rules.h"

#include <algorithm>
#include <set>

#include "engine/rules/encryption_rules.h"
#include "engine/rules/index_rules.h"
#include "engine/rules/key_schema_rules.h"
#include "engine/rules/throughput_rules.h"
#include "store/constraints.h"

namespace postino::engine {

namespace {

using store::UpdateTableRequest;

void constrain_update(store::Constraints& constraints, const std::string& path,
                      const store::GlobalIndexUpdate& update) {
  if (const auto* created = std::get_if<store::CreateGlobalIndex>(&update))
    constrain(constraints, path + ".create", created->definition);
  if (const auto* changed = std::get_if<store::UpdateGlobalIndex>(&update)) {
    constraints.check_name(path + ".update.indexName", changed->name);
    if (changed->throughput)
      constrain_throughput(constraints, path + ".update.provisionedThroughput", *changed->throughput);
  }
  if (const auto* deleted = std::get_if<store::DeleteGlobalIndex>(&update))
    constraints.check_name(path + ".delete.indexName", deleted->name);
}

store::Answer<void> check_update_shape(const UpdateTableRequest& request) {
  store::Constraints constraints;
  constrain_definitions(constraints, request.attribute_definitions);
  constraints.check_name("tableName", request.table_name);
  if (request.throughput) constrain_throughput(constraints, "provisionedThroughput", *request.throughput);
  for (std::size_t i = 0; i < request.global_index_updates.size(); ++i)
    constrain_update(constraints, "globalSecondaryIndexUpdates." + std::to_string(i + 1) + ".member",
                     request.global_index_updates[i]);
  return constraints.outcome();
}

// How many kinds of change the request asks for.
int count_concerns(const UpdateTableRequest& request) {
  return static_cast<int>(request.throughput.has_value()) + static_cast<int>(request.billing_mode.has_value()) +
         static_cast<int>(request.on_demand.has_value()) + static_cast<int>(request.warm.has_value()) +
         static_cast<int>(!request.global_index_updates.empty()) + static_cast<int>(request.stream.has_value()) +
         static_cast<int>(request.encryption.has_value()) + static_cast<int>(request.table_class.has_value()) +
         static_cast<int>(request.deletion_protection.has_value());
}

bool creates_index(const UpdateTableRequest& request) {
  return std::ranges::any_of(request.global_index_updates, [](const store::GlobalIndexUpdate& update) {
    return std::holds_alternative<store::CreateGlobalIndex>(update);
  });
}

// Most changes want a request of their own.
store::Answer<void> check_combination(const UpdateTableRequest& request) {
  const int concerns = count_concerns(request);
  if (concerns == 0)
    return store::refuse_invalid(
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, "
        "SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, "
        "DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required");
  if (concerns == 1) return {};
  if (request.encryption)
    return store::refuse_parameter("Server-Side Encryption modification must be the only operation in the request");
  if (request.table_class)
    return store::refuse_parameter("TableClass modification must be the only operation in the request");
  if (request.deletion_protection)
    return store::refuse_parameter("DeletionProtection modification must be the only operation in the request");
  if (request.warm)
    return store::refuse_parameter(
        creates_index(request) ? "Create global secondary index cannot be specified when updating WarmThroughput"
                               : "WarmThroughput must be the only operation in the request");
  if (request.on_demand && !(concerns == 2 && request.billing_mode))
    return store::refuse_parameter(
        "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request");
  const bool updates_iops = request.throughput || request.billing_mode == store::BillingMode::provisioned;
  if (request.stream && updates_iops)
    return store::refuse_parameter("You cannot modify stream status while updating table IOPS");
  if (count_index_changes(request) == 0) return {};
  if (updates_iops) return store::refuse_parameter("You cannot create or delete index while updating table IOPS");
  if (request.stream) return store::refuse_parameter("You cannot create or delete index while changing stream status");
  return {};
}

store::Answer<void> check_throughput(const UpdateTableRequest& request) {
  if (request.billing_mode == store::BillingMode::provisioned && !request.throughput)
    return store::refuse_parameter("ProvisionedThroughput must be specified when BillingMode is PROVISIONED");
  if (request.throughput) TRY_VOID(check_bounds(*request.throughput));
  return {};
}

store::Answer<void> check_index_updates(const UpdateTableRequest& request) {
  std::set<std::string_view> names;
  for (const store::GlobalIndexUpdate& update : request.global_index_updates)
    if (!names.insert(index_name_of(update)).second)
      return store::refuse_parameter(
          "Only one global secondary index update per index is allowed simultaneously. Index: " +
          index_name_of(update));
  return {};
}

store::Answer<void> check_stream_shape(const std::optional<store::StreamSpecification>& stream) {
  if (!stream || stream->enabled == stream->view_type.has_value()) return {};
  return store::refuse_parameter(stream->enabled
                                     ? "If stream is being enabled then UpdateViewType is required"
                                     : "If stream is being disabled, then UpdateViewType must not be specified");
}

}  // namespace

const std::string& index_name_of(const store::GlobalIndexUpdate& update) {
  if (const auto* created = std::get_if<store::CreateGlobalIndex>(&update)) return created->definition.name;
  if (const auto* changed = std::get_if<store::UpdateGlobalIndex>(&update)) return changed->name;
  return std::get<store::DeleteGlobalIndex>(update).name;
}

std::size_t count_index_changes(const UpdateTableRequest& request) {
  return static_cast<std::size_t>(
      std::ranges::count_if(request.global_index_updates, [](const store::GlobalIndexUpdate& update) {
        return !std::holds_alternative<store::UpdateGlobalIndex>(update);
      }));
}

store::Answer<void> check_update_table(const UpdateTableRequest& request) {
  TRY_VOID(check_update_shape(request));
  TRY_VOID(check_combination(request));
  TRY_VOID(check_throughput(request));
  TRY_VOID(check_index_updates(request));
  TRY_VOID(check_stream_shape(request.stream));
  if (request.encryption) TRY_VOID(check_encryption(*request.encryption));
  return {};
}

}  // namespace postino::engine
