#include "engine/tables/table_update_plan.h"

#include <algorithm>

#include "engine/catalog/throughput_limits.h"
#include "engine/rules/encryption_rules.h"
#include "engine/rules/throughput_rules.h"
#include "engine/streams/stream_lifecycle.h"
#include "engine/tables/table_contents.h"
#include "engine/tables/table_definition.h"
#include "engine/tables/throughput_change.h"

namespace postino::engine {

namespace {

using store::BillingMode;
using store::UpdateTableRequest;

store::Answer<void> check_indexes_provisioned(const Table& table, const UpdateTableRequest& request) {
  for (const Index& index : table.indexes) {
    const bool given = std::ranges::any_of(request.global_index_updates, [&](const store::GlobalIndexUpdate& update) {
      const auto* changed = std::get_if<store::UpdateGlobalIndex>(&update);
      return changed != nullptr && changed->name == index.name && changed->throughput;
    });
    if (index.global && !given)
      return store::refuse_parameter("ProvisionedThroughput must be specified for index: " + index.name);
  }
  return {};
}

store::Answer<void> change_billing(Table& table, const UpdateTableRequest& request, base::TimePoint now) {
  const BillingMode wanted = request.billing_mode.value_or(table.billing_mode);
  if (request.throughput && wanted == BillingMode::pay_per_request)
    return store::refuse_parameter(
        "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST");
  if (wanted != table.billing_mode && wanted == BillingMode::pay_per_request) switch_to_pay_per_request(table, now);
  if (wanted != table.billing_mode && wanted == BillingMode::provisioned) {
    TRY_VOID(check_indexes_provisioned(table, request));
    switch_to_provisioned(table);
  }
  if (request.throughput) {
    TRY_VOID(change_provisioned(table.throughput, *request.throughput, "", now));
    raise_warm(table.warm, *request.throughput);
  }
  if (request.on_demand) {
    TRY_VOID(check_on_demand_change(*request.on_demand, table.billing_mode, ""));
    change_on_demand(table.on_demand, *request.on_demand);
  }
  if (request.warm) {
    TRY_VOID(check_warm_change(*request.warm, table.warm, ""));
    raise_warm(table.warm, *request.warm);
  }
  return {};
}

store::Answer<void> change_encryption(Table& table, const store::EncryptionSpecification& specification,
                                      const Options& options) {
  if (!specification.enabled) {
    if (!table.encryption) return store::refuse_parameter("Table is already encrypted by default");
    table.encryption.reset();
    return {};
  }
  if (table.encryption && specification.key_id && specification.key_id == table.encryption->key_id)
    return store::refuse_parameter(
        "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you want to change "
        "Master Key");
  table.encryption = resolve_encryption(specification, options);
  return {};
}

void change_class(Table& table, store::TableClass wanted, base::TimePoint now) {
  if (wanted == table.table_class.value_or(store::TableClass::standard)) return;
  table.table_class = wanted;
  table.table_class_changed = now;
}

store::Answer<void> check_stream_change(const Table& table, const store::StreamSpecification& stream) {
  if (stream.enabled && table.stream)
    return store::refuse_invalid("Table already has an enabled stream: TableName: " + table.name);
  if (!stream.enabled && !table.stream)
    return store::refuse_invalid("Table has no stream to disable: TableName: " + table.name);
  return {};
}

}  // namespace

store::Answer<UpdatePlan> plan_update(const Options& options, const Table& before, const UpdateTableRequest& request,
                                      base::TimePoint now) {
  UpdatePlan plan{before, {}};
  Table& after = plan.after;
  TRY_VOID(change_billing(after, request, now));
  TRY(plan.indexes, update_indexes(after, request, now));
  if (request.stream) TRY_VOID(check_stream_change(after, *request.stream));
  if (request.encryption) TRY_VOID(change_encryption(after, *request.encryption, options));
  if (request.table_class) change_class(after, *request.table_class, now);
  if (request.deletion_protection) {
    after.deletion_protection = *request.deletion_protection;
    after.deletion_protection_changed = now;
  }
  return plan;
}

store::Answer<void> commit_update(Core& core, const UpdateTableRequest& request, const IndexChanges& indexes,
                                  Table& after, CatalogState& state, CommitEntry& entry) {
  if (indexes.created) {
    Index& index = *after.find_index(*indexes.created);
    index.id = core.catalog->take_id(entry);
    TRY(const bool empty, is_empty(core, after));
    if (!empty || after.is_allocating(index)) index.backfill = Backfill{};
  }
  if (indexes.removed) remove_index(entry, *indexes.removed);
  if (request.stream && request.stream->enabled) open_stream(core, state, entry, after, *request.stream->view_type);
  if (request.stream && !request.stream->enabled) close_stream(core, state, entry, after);
  settle_throughput(core, *state.tables.at(after.name));
  put_table(state, entry, after);
  return {};
}

}  // namespace postino::engine
