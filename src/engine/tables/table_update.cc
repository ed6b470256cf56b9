#include "engine/rules/update_table_rules.h"
#include "engine/tables/busy_table_rules.h"
#include "engine/tables/table_operations.h"
#include "engine/tables/table_transition.h"
#include "engine/tables/update_description.h"

namespace postino::engine {

store::Answer<store::TableDescription> TableOperations::update(const store::UpdateTableRequest& request) {
  TRY_VOID(check_update_table(request));
  std::lock_guard control(core_.control_mutex);
  const TablePointer before = core_.catalog->find(request.table_name);
  if (!before) return base::propagate(no_such_table(request.table_name));
  const base::TimePoint now = core_.now();
  TRY_VOID(check_may_update(*before, request));
  if (core_.options.realistic_timing) TRY_VOID(check_protection_cooldown(*before, request, now));
  TRY(UpdatePlan plan, plan_update(core_.options, *before, request, now));
  UpdatePlan first = core_.options.realistic_timing ? begin_update(*before, request, plan, now) : plan;
  TRY_VOID(core_.change_catalog([&](CatalogState& state, CommitEntry& entry) {
    return commit_update(core_, request, first.indexes, first.after, state, entry);
  }));
  if (first.indexes.created && core_.wake_maintenance) core_.wake_maintenance();
  plan.after.stream = first.after.stream;
  plan.after.latest_stream_label = first.after.latest_stream_label;
  return describe_update(core_, request, *before, plan);
}

}  // namespace postino::engine
