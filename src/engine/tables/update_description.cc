#include "engine/tables/update_description.h"

#include <algorithm>

#include "engine/rules/update_table_rules.h"
#include "engine/tables/table_description.h"

namespace postino::engine {

namespace {

using store::UpdateTableRequest;

// The times of changes are shown at once, the values only when the change is done.
void announce(store::ThroughputDescription& shown, const store::ThroughputDescription& changed) {
  shown.last_increase = changed.last_increase;
  shown.last_decrease = changed.last_decrease;
}

void describe_index_changes(const Core& core, const UpdateTableRequest& request, const UpdatePlan& plan,
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

}  // namespace

store::TableDescription describe_update(const Core& core, const UpdateTableRequest& request, const Table& before,
                                        const UpdatePlan& plan) {
  store::TableDescription description = describe_settled(core, before);
  const store::TableDescription after = describe_settled(core, plan.after);
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

}  // namespace postino::engine
