#include "engine/tables/table_description.h"

#include "engine/tables/throughput_change.h"
#include "engine/tables/update_description.h"

namespace postino::engine {

namespace {

store::ThroughputDescription as_of(store::ThroughputDescription throughput, base::TimePoint now) {
  throughput.decreases_today = decreases_today(throughput, now);
  return throughput;
}

store::RestoreSummary describe_restore(const Core& core, const Restore& restore) {
  store::RestoreSummary summary{std::nullopt, restore.source_arn, restore.time, true};
  if (restore.backup)
    summary.source_backup_arn = core.backup_arn(restore.source_arn.substr(core.table_arn("").size()), *restore.backup);
  return summary;
}

// An update that is under way: the old values, as its answer showed them.
store::TableDescription describe_transition(const Core& core, const Table& table) {
  const Transition& transition = *table.transition;
  const auto plan = plan_update(core.options, table, transition.remaining, transition.started);
  store::TableDescription description =
      plan ? describe_update(core, transition.remaining, table, *plan) : describe_settled(core, table);
  if (transition.allocating_index || transition.stream) description.status = store::TableStatus::updating;
  return description;
}

}  // namespace

store::IndexDescription describe_index(const Core& core, const Table& table, const Index& index) {
  store::IndexDescription description;
  description.name = index.name;
  description.arn = core.index_arn(table.name, index.name);
  description.key_schema = key_schema_of(index);
  description.projection = index.projection;
  description.non_key_attributes = index.non_key_attributes;
  description.item_count = index.statistics->count;
  description.size_bytes = index.statistics->bytes;
  if (!index.global) return description;
  if (!index.ready()) {
    description.status = store::IndexStatus::creating;
    description.backfilling = !table.is_allocating(index);
  }
  description.throughput = as_of(index.throughput, core.now());
  description.on_demand = index.on_demand;
  description.warm = index.warm;
  return description;
}

store::TableDescription describe_settled(const Core& core, const Table& table) {
  store::TableDescription description;
  description.name = table.name;
  description.arn = core.table_arn(table.name);
  description.id = table.uuid;
  description.created = table.created;
  description.attribute_definitions = table.attribute_definitions;
  description.key_schema = key_schema_of(table);
  for (const Index& index : table.indexes)
    (index.global ? description.global_indexes : description.local_indexes)
        .push_back(describe_index(core, table, index));
  description.billing_mode = table.billing_mode;
  description.last_switch_to_pay_per_request = table.last_switch_to_pay_per_request;
  description.throughput = as_of(table.throughput, core.now());
  description.on_demand = table.on_demand;
  description.warm = table.warm;
  description.item_count = table.statistics->count;
  description.size_bytes = table.statistics->bytes;
  if (table.stream) description.stream = table.stream->view;
  description.latest_stream_label = table.latest_stream_label;
  if (table.latest_stream_label)
    description.latest_stream_arn = core.table_arn(table.name) + "/stream/" + *table.latest_stream_label;
  description.table_class = table.table_class;
  description.table_class_changed = table.table_class_changed;
  description.encryption = table.encryption;
  description.deletion_protection = table.deletion_protection;
  if (table.restore) description.restore = describe_restore(core, *table.restore);
  return description;
}

store::TableDescription describe_creation(const Core& core, const Table& table) {
  store::TableDescription description = describe_settled(core, table);
  description.status = store::TableStatus::creating;
  description.warm.reset();
  description.last_switch_to_pay_per_request.reset();
  for (store::IndexDescription& index : description.global_indexes) {
    index.status = store::IndexStatus::creating;
    index.warm.reset();
  }
  return description;
}

store::TableDescription describe_deletion(const Core& core, const Table& table) {
  store::TableDescription description = describe_settled(core, table);
  description.status = store::TableStatus::deleting;
  return description;
}

store::TableDescription describe_table(const Core& core, const Table& table) {
  if (table.is_being_created()) return describe_creation(core, table);
  if (!table.transition) return describe_settled(core, table);
  if (table.transition->status == store::TableStatus::deleting) return describe_deletion(core, table);
  return describe_transition(core, table);
}

}  // namespace postino::engine
