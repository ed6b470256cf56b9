#include "engine/tables/busy_table_rules.h"

#include <algorithm>

#include "engine/rules/update_table_rules.h"
#include "engine/streams/stream_lifecycle.h"
#include "engine/tables/table_timing.h"

namespace postino::engine {

namespace {

using store::TableStatus;
using store::UpdateTableRequest;

store::Error in_use(const std::string& reason) {
  return {store::ErrorType::resource_in_use, "Attempt to change a resource which is still in use: " + reason};
}

bool changes_throughput(const UpdateTableRequest& request) {
  return request.throughput || request.billing_mode ||
         std::ranges::any_of(request.global_index_updates, [](const store::GlobalIndexUpdate& update) {
           const auto* changed = std::get_if<store::UpdateGlobalIndex>(&update);
           return changed != nullptr && (changed->throughput || changed->on_demand);
         });
}

bool is_being_deleted(const Transition& transition, const std::string& index_name) {
  return std::ranges::any_of(transition.remaining.global_index_updates, [&](const store::GlobalIndexUpdate& update) {
    return std::holds_alternative<store::DeleteGlobalIndex>(update) && index_name_of(update) == index_name;
  });
}

store::Answer<void> check_may_update_indexes(const Table& table, const UpdateTableRequest& request) {
  const Transition& transition = *table.transition;
  for (const store::GlobalIndexUpdate& update : request.global_index_updates) {
    const std::string& name = index_name_of(update);
    if (is_being_deleted(transition, name))
      return base::propagate(in_use("Index is being deleted. Table: " + table.name + " Index: " + name));
    if (std::holds_alternative<store::DeleteGlobalIndex>(update) && transition.allocating_index == name)
      return base::propagate(
          in_use("Index creation is in resource allocation phase. Retry deletion during backfilling phase or when the "
                 "index is active. Table: " +
                 table.name + " Index: " + name));
  }
  const bool index_comes_or_goes = transition.allocating_index || count_index_changes(transition.remaining) > 0;
  if (index_comes_or_goes && count_index_changes(request) > 0)
    return store::refuse(
        store::ErrorType::limit_exceeded,
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table");
  return {};
}

store::Error being_updated(const Table& table) {
  return in_use("Table: " + table.name + " is in the process of being updated.");
}

}  // namespace

store::Answer<void> check_may_change_settings(const Table& table) {
  if (table.is_being_created()) return base::propagate(in_use("Table is being created: " + table.name));
  if (table.transition && table.transition->status == TableStatus::deleting)
    return base::propagate(in_use("Table is being deleted: " + table.name));
  return {};
}

store::Error in_the_way(const Table& existing) {
  if (const auto busy = check_may_change_settings(existing); !busy) return busy.error();
  return {store::ErrorType::resource_in_use, "Table already exists: " + existing.name};
}

store::Answer<void> check_may_delete(const Table& table) {
  TRY_VOID(check_may_change_settings(table));
  const bool filling = !std::ranges::all_of(table.indexes, &Index::ready);
  if (filling || (table.transition && !table.transition->remaining.global_index_updates.empty()))
    return base::propagate(in_use("Cannot delete table while indexes are being created, updated, or deleted."));
  if (!table.transition) return {};
  if (table.transition->stream)
    return base::propagate(in_use("Cannot delete table while stream is being enabled/disabled."));
  return base::propagate(being_updated(table));
}

store::Answer<void> check_not_restored_from(const CatalogState& state, const Table& source) {
  const TablePointer filled = filled_from(state, source.id);
  if (!filled) return {};
  if (is_image_of(*filled, source))
    return base::propagate(in_use("A backup of the table is being created. Table: " + source.name));
  return base::propagate(in_use("Table is being restored from. Table: " + source.name + " Restored: " + filled->name));
}

store::Answer<void> check_may_update(const Table& table, const UpdateTableRequest& request) {
  TRY_VOID(check_may_change_settings(table));
  if (!table.transition) return {};
  TRY_VOID(check_may_update_indexes(table, request));
  const Transition& transition = *table.transition;
  if (request.stream && transition.stream)
    return base::propagate(in_use("A stream status change is currently in progress. Table: " + table.name +
                                  " Stream: " + table.latest_stream_label.value_or("") + " Operation: " +
                                  (*transition.stream == store::StreamStatus::enabling ? "ENABLE" : "DISABLE")));
  if (changes_throughput(request) && changes_throughput(transition.remaining))
    return base::propagate(in_use("Table IOPS are currently being updated. Table: " + table.name));
  return base::propagate(being_updated(table));
}

store::Answer<void> check_protection_cooldown(const Table& table, const UpdateTableRequest& request,
                                              base::TimePoint now) {
  if (!request.deletion_protection || !table.deletion_protection_changed) return {};
  const base::TimePoint next = *table.deletion_protection_changed + timing::deletion_protection_cooldown;
  if (now >= next) return {};
  return store::refuse(store::ErrorType::throttling,
                       "Deletion protection for table " + table.name + " modified within the previous " +
                           std::to_string(timing::deletion_protection_cooldown.count()) +
                           " milliseconds. Please try again after " + stream_label(next) + "Z.");
}

store::Answer<void> check_time_to_live_cooldown(const Table& table, base::TimePoint now) {
  if (table.last_time_to_live_change && now < table.last_time_to_live_change->time + timing::time_to_live_cooldown)
    return store::refuse_invalid("Time to live has been modified multiple times within a fixed interval");
  return {};
}

}  // namespace postino::engine
