#include <algorithm>

#include "engine/constraints.h"
#include "engine/encryption_rules.h"
#include "engine/index_update.h"
#include "engine/stream_lifecycle.h"
#include "engine/table_contents.h"
#include "engine/table_definition.h"
#include "engine/table_description.h"
#include "engine/table_operations.h"
#include "engine/throughput_change.h"
#include "engine/throughput_rules.h"
#include "engine/update_table_rules.h"

namespace postino::engine {

namespace {

using store::BillingMode;
using store::UpdateTableRequest;

// What a request makes of a table: the table afterwards, apart from its stream and the id of a new index.
struct Plan {
  Table after;
  IndexChanges indexes;
};

store::Answer<void> check_indexes_provisioned(const Table& table, const UpdateTableRequest& request) {
  for (const Index& index : table.indexes) {
    const bool given = std::ranges::any_of(request.global_index_updates, [&](const store::GlobalIndexUpdate& update) {
      const auto* changed = std::get_if<store::UpdateGlobalIndex>(&update);
      return changed != nullptr && changed->name == index.name && changed->throughput;
    });
    if (index.global && !given)
      return refuse_parameter("ProvisionedThroughput must be specified for index: " + index.name);
  }
  return {};
}

store::Answer<void> change_billing(Table& table, const UpdateTableRequest& request, base::TimePoint now) {
  const BillingMode wanted = request.billing_mode.value_or(table.billing_mode);
  if (request.throughput && wanted == BillingMode::pay_per_request)
    return refuse_parameter(
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
    if (!table.encryption) return refuse_parameter("Table is already encrypted by default");
    table.encryption.reset();
    return {};
  }
  if (table.encryption && specification.key_id && specification.key_id == table.encryption->key_id)
    return refuse_parameter(
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

store::Answer<void> check_stream(const Table& table, const store::StreamSpecification& stream) {
  if (stream.enabled && table.stream)
    return store::refuse_invalid("Table already has an enabled stream: TableName: " + table.name);
  if (!stream.enabled && !table.stream)
    return store::refuse_invalid("Table has no stream to disable: TableName: " + table.name);
  return {};
}

store::Answer<Plan> plan_update(const Core& core, const Table& before, const UpdateTableRequest& request) {
  const base::TimePoint now = core.now();
  Plan plan{before, {}};
  Table& after = plan.after;
  TRY_VOID(change_billing(after, request, now));
  TRY(plan.indexes, update_indexes(after, request, now));
  if (request.stream) TRY_VOID(check_stream(after, *request.stream));
  if (request.encryption) TRY_VOID(change_encryption(after, *request.encryption, core.options));
  if (request.table_class) change_class(after, *request.table_class, now);
  if (request.deletion_protection) after.deletion_protection = *request.deletion_protection;
  return plan;
}

store::Answer<void> commit_update(Core& core, const UpdateTableRequest& request, Plan& plan, CatalogState& state,
                                  CommitEntry& entry) {
  Table& after = plan.after;
  if (plan.indexes.created) {
    Index& index = *after.find_index(*plan.indexes.created);
    index.id = core.catalog->take_id(entry);
    TRY(const bool empty, is_empty(core, after));
    if (!empty) index.backfill = Backfill{};
  }
  if (plan.indexes.removed) remove_index(entry, *plan.indexes.removed);
  if (request.stream && request.stream->enabled) open_stream(core, state, entry, after, *request.stream->view_type);
  if (request.stream && !request.stream->enabled) close_stream(core, state, entry, after);
  put_table(entry, after);
  state.tables.insert_or_assign(after.name, std::make_shared<const Table>(after));
  return {};
}

// The times of changes are shown at once, the values only when the change is done.
void announce(store::ThroughputDescription& shown, const store::ThroughputDescription& changed) {
  shown.last_increase = changed.last_increase;
  shown.last_decrease = changed.last_decrease;
}

void describe_index_changes(const Core& core, const UpdateTableRequest& request, const Plan& plan,
                            store::TableDescription& description) {
  const bool switched = plan.after.billing_mode != description.billing_mode;
  for (store::IndexDescription& shown : description.global_indexes) {
    const Index* index = plan.after.find_index(shown.name);
    if (index == nullptr) {
      shown.status = store::IndexStatus::deleting;
      shown.backfilling.reset();
      continue;
    }
    const bool updated = std::ranges::any_of(request.global_index_updates, [&](const store::GlobalIndexUpdate& update) {
      const auto* changed = std::get_if<store::UpdateGlobalIndex>(&update);
      return changed != nullptr && changed->name == shown.name && (changed->throughput || changed->on_demand);
    });
    if ((switched || updated) && index->ready()) shown.status = store::IndexStatus::updating;
    announce(shown.throughput, index->throughput);
    shown.on_demand = index->on_demand;
  }
  if (!plan.indexes.created) return;
  store::IndexDescription created = describe_index(core, plan.after, *plan.after.find_index(*plan.indexes.created));
  created.status = store::IndexStatus::creating;
  created.backfilling = false;
  description.global_indexes.push_back(std::move(created));
  description.attribute_definitions = plan.after.attribute_definitions;
}

// What UpdateTable answers: changes that take DynamoDB a while are shown as under way, the others as done.
store::TableDescription describe_update(const Core& core, const UpdateTableRequest& request, const Table& before,
                                        const Plan& plan) {
  store::TableDescription description = describe_table(core, before);
  const store::TableDescription after = describe_table(core, plan.after);
  describe_index_changes(core, request, plan, description);
  if (request.throughput || request.billing_mode || request.stream || request.table_class ||
      count_index_changes(request) > 0)
    description.status = store::TableStatus::updating;
  announce(description.throughput, after.throughput);
  description.on_demand = after.on_demand;
  description.stream = after.stream;
  description.latest_stream_label = after.latest_stream_label;
  description.latest_stream_arn = after.latest_stream_arn;
  description.encryption = after.encryption;
  description.deletion_protection = after.deletion_protection;
  return description;
}

}  // namespace

store::Answer<store::TableDescription> TableOperations::update(const UpdateTableRequest& request) {
  TRY_VOID(check_update_table(request));
  std::lock_guard control(core_.control_mutex);
  const TablePointer before = core_.catalog->find(request.table_name);
  if (!before) return base::propagate(no_such_table(request.table_name));
  TRY(Plan plan, plan_update(core_, *before, request));
  TRY_VOID(core_.change_catalog(
      [&](CatalogState& state, CommitEntry& entry) { return commit_update(core_, request, plan, state, entry); }));
  if (plan.indexes.created && core_.wake_maintenance) core_.wake_maintenance();
  return describe_update(core_, request, *before, plan);
}

}  // namespace postino::engine
