#include "engine/storage/keys.h"
#include "engine/tables/busy_table_rules.h"
#include "engine/tables/table_contents.h"
#include "engine/tables/table_operations.h"
#include "engine/tables/table_timing.h"
#include "store/constraints.h"

namespace postino::engine {

namespace {

store::Answer<void> check_time_to_live(const Table& table, const store::TimeToLiveSpecification& specification) {
  const bool enabled = table.time_to_live.has_value();
  if (enabled && table.time_to_live->attribute != specification.attribute_name)
    return store::refuse_invalid("TimeToLive is active on a different AttributeName: current AttributeName is " +
                                 table.time_to_live->attribute);
  if (enabled && specification.enabled) return store::refuse_invalid("TimeToLive is already enabled");
  if (!enabled && !specification.enabled) return store::refuse_invalid("TimeToLive is already disabled");
  return {};
}

// A change is done at once, but seems to take a while.
void show_time_to_live_change(const Table& table, base::TimePoint now, store::TimeToLiveDescription& description) {
  const std::optional<TimeToLiveChange>& change = table.last_time_to_live_change;
  if (!change || now >= change->time + timing::time_to_live_change) return;
  description.status = table.time_to_live ? store::TimeToLiveStatus::enabling : store::TimeToLiveStatus::disabling;
  description.attribute_name = change->attribute;
}

}  // namespace

store::Answer<store::TimeToLiveSpecification> TableOperations::update_time_to_live(
    const std::string& table_name, const store::TimeToLiveSpecification& specification) {
  store::Constraints constraints;
  constraints.check_name("tableName", table_name);
  constraints.check_length("timeToLiveSpecification.attributeName", specification.attribute_name, 1, 255);
  TRY_VOID(constraints.outcome());
  std::lock_guard control(core_.control_mutex);
  const TablePointer before = core_.catalog->find(table_name);
  if (!before) return base::propagate(no_such_table(table_name));
  TRY_VOID(check_may_change_settings(*before));
  TRY_VOID(check_time_to_live(*before, specification));
  const base::TimePoint now = core_.now();
  if (core_.options.realistic_timing) TRY_VOID(check_time_to_live_cooldown(*before, now));
  TRY_VOID(core_.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    Table after = *before;
    if (specification.enabled) {
      TRY(const bool empty, is_empty(core_, after));
      after.time_to_live = TimeToLive{specification.attribute_name, std::nullopt};
      if (!empty) after.time_to_live->backfill = Backfill{};
    } else {
      after.time_to_live.reset();
      entry.remove_range(Family::expiry, id_prefix(after.id), id_prefix(after.id + 1));
    }
    after.last_time_to_live_change = {now, specification.attribute_name};
    put_table(state, entry, std::move(after));
    return {};
  }));
  if (specification.enabled && core_.wake_maintenance) core_.wake_maintenance();
  return specification;
}

store::Answer<store::TimeToLiveDescription> TableOperations::describe_time_to_live(const std::string& table_name) {
  TRY_VOID(store::check_table_name(table_name));
  const TablePointer table = core_.catalog->find(table_name);
  if (!table) return base::propagate(no_such_table(table_name));
  if (table->is_being_created())
    return store::refuse_invalid(
        "Cannot describe time to live while table is in CREATING state: Current table state is CREATING");
  store::TimeToLiveDescription description;
  if (table->time_to_live) {
    description.status = store::TimeToLiveStatus::enabled;
    description.attribute_name = table->time_to_live->attribute;
  }
  if (core_.options.realistic_timing) show_time_to_live_change(*table, core_.now(), description);
  return description;
}

}  // namespace postino::engine
