#include "engine/tables/table_transition.h"

#include <algorithm>

#include "base/log.h"
#include "engine/streams/stream_lifecycle.h"
#include "engine/tables/kept_image.h"
#include "engine/tables/table_contents.h"
#include "engine/tables/table_timing.h"

namespace postino::engine {

namespace {

using store::TableStatus;
using store::UpdateTableRequest;

bool takes_time(const store::GlobalIndexUpdate& update) {
  if (std::holds_alternative<store::DeleteGlobalIndex>(update)) return true;
  const auto* changed = std::get_if<store::UpdateGlobalIndex>(&update);
  return changed != nullptr && (changed->throughput || changed->on_demand);
}

// The part of a request whose effect is seen only when it is done.
UpdateTableRequest slow_part(const Table& before, const UpdateTableRequest& request) {
  UpdateTableRequest slow;
  slow.table_name = request.table_name;
  slow.throughput = request.throughput;
  slow.table_class = request.table_class;
  if (request.billing_mode && *request.billing_mode != before.billing_mode) {
    slow.billing_mode = request.billing_mode;
    slow.on_demand = request.on_demand;
  }
  if (!slow.billing_mode && !slow.throughput && std::ranges::none_of(request.global_index_updates, takes_time))
    return slow;
  for (const store::GlobalIndexUpdate& update : request.global_index_updates)
    if (!std::holds_alternative<store::CreateGlobalIndex>(update)) slow.global_index_updates.push_back(update);
  return slow;
}

bool is_nothing(const UpdateTableRequest& slow) {
  return !slow.billing_mode && !slow.throughput && !slow.table_class && slow.global_index_updates.empty();
}

base::Milliseconds duration_of(const Transition& transition) {
  const UpdateTableRequest& slow = transition.remaining;
  base::Milliseconds longest{0};
  const auto include = [&](bool part, base::Milliseconds duration) {
    if (part) longest = std::max(longest, duration);
  };
  include(slow.throughput.has_value(), timing::throughput_change);
  include(slow.billing_mode.has_value(), timing::billing_change);
  include(slow.table_class.has_value(), timing::class_change);
  include(transition.stream.has_value(), timing::stream_change);
  include(transition.allocating_index.has_value(), timing::index_allocation);
  for (const store::GlobalIndexUpdate& update : slow.global_index_updates)
    include(true, std::holds_alternative<store::DeleteGlobalIndex>(update) ? timing::index_deletion
                                                                           : timing::throughput_change);
  return longest;
}

Transition begun(TableStatus status, base::TimePoint now, base::Milliseconds duration) {
  Transition transition;
  transition.status = status;
  transition.started = now;
  transition.due = now + duration;
  return transition;
}

void finish_creation(Table table, CatalogState& state, CommitEntry& entry) {
  table.transition.reset();
  put_table(state, entry, std::move(table));
}

store::Answer<void> finish_update(Core& core, const Table& table, CatalogState& state, CommitEntry& entry) {
  const Transition& transition = *table.transition;
  // It was planned before, and what it changes cannot have been changed since.
  store::Answer<UpdatePlan> plan = plan_update(core.options, table, transition.remaining, transition.started);
  if (!plan) {
    base::log_warning("engine", "an update of table " + table.name + " is given up: " + plan.error().message);
    plan = UpdatePlan{table, {}};
  }
  Table& after = plan->after;
  after.transition.reset();
  if (transition.allocating_index) {
    TRY(const bool empty, is_empty(core, after));
    if (empty) after.find_index(*transition.allocating_index)->backfill.reset();
  }
  return commit_update(core, transition.remaining, plan->indexes, after, state, entry);
}

store::Answer<void> finish(Core& core, const Table& table, CatalogState& state, CommitEntry& entry) {
  switch (table.transition->status) {
    case TableStatus::creating:
      finish_creation(table, state, entry);
      return {};
    case TableStatus::deleting:
      erase_table(core, table, state, entry);
      return {};
    default:
      return finish_update(core, table, state, entry);
  }
}

store::Answer<void> finish_all(Core& core, const std::vector<TablePointer>& tables, CatalogState& state,
                               CommitEntry& entry) {
  for (const TablePointer& table : tables) TRY_VOID(finish(core, *table, state, entry));
  return {};
}

store::Answer<void> complete_transitions(Core& core, base::TimePoint until) {
  const std::lock_guard control(core.control_mutex);
  const CatalogStatePointer state = core.catalog->state();
  std::vector<TablePointer> due;
  for (const auto& [name, table] : state->tables)
    if (table->transition && table->transition->due <= until) due.push_back(table);
  if (due.empty()) return {};
  TRY_VOID(core.change_catalog(
      [&](CatalogState& after, CommitEntry& entry) { return finish_all(core, due, after, entry); }));
  if (core.wake_maintenance) core.wake_maintenance();  // there may be an index to fill
  return {};
}

}  // namespace

Transition begin_creation(base::TimePoint now) { return begun(TableStatus::creating, now, timing::table_creation); }

Transition begin_deletion(base::TimePoint now) { return begun(TableStatus::deleting, now, timing::table_deletion); }

UpdatePlan begin_update(const Table& before, const UpdateTableRequest& request, const UpdatePlan& plan,
                        base::TimePoint now) {
  Transition transition;
  transition.remaining = slow_part(before, request);
  transition.allocating_index = plan.indexes.created;
  if (request.stream)
    transition.stream = request.stream->enabled ? store::StreamStatus::enabling : store::StreamStatus::disabling;
  UpdatePlan first = plan;
  if (!is_nothing(transition.remaining)) {
    first = {before, {plan.indexes.created, std::nullopt}};
    if (plan.indexes.created) {
      first.after.indexes.push_back(plan.after.indexes.back());
      first.after.attribute_definitions = plan.after.attribute_definitions;
    }
  }
  const base::Milliseconds duration = duration_of(transition);
  if (duration == base::Milliseconds{0}) return first;
  transition.started = now;
  transition.due = now + duration;
  first.after.transition = std::move(transition);
  return first;
}

store::Answer<void> complete_due_transitions(Core& core) {
  const base::TimePoint now = core.now();
  if (!core.catalog->has_due_transitions(now)) return {};
  return complete_transitions(core, now);
}

store::Answer<void> complete_all_transitions(Core& core) { return complete_transitions(core, base::TimePoint::max()); }

void erase_table(Core& core, Table table, CatalogState& state, CommitEntry& entry) {
  if (table.stream) close_stream(core, state, entry, table);
  if (const auto kept = kept_after_deletion(core, table)) {
    remove_all_but_items(entry, table);
    keep_as_backup(core, table, *kept, state, entry);
  } else {
    remove_table(entry, table);
  }
  state.tables.erase(table.name);
}

}  // namespace postino::engine
