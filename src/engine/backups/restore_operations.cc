#include <algorithm>

#include "base/timestamp.h"
#include "engine/backups/backup_operations.h"
#include "engine/backups/restorable_window.h"
#include "engine/backups/restored_definition.h"
#include "engine/rules/create_table_rules.h"
#include "engine/tables/table_creation.h"
#include "engine/tables/table_definition.h"
#include "engine/tables/table_description.h"
#include "store/constraints.h"

namespace postino::engine {

namespace {

constexpr std::ptrdiff_t most_restores = 50;  // at a time

store::Answer<void> check_restore(const store::RestoreToPointInTimeRequest& request) {
  store::Constraints constraints;
  constraints.check_name("targetTableName", request.target_table_name);
  if (request.source_table_name) constraints.check_name("sourceTableName", *request.source_table_name);
  TRY_VOID(constraints.outcome());
  if (request.source_table_name.has_value() == request.source_table_arn.has_value())
    return store::refuse_invalid(
        "Invalid Request: Either one of SourceTableName or SourceTableArn must be specified, but not both");
  if (request.use_latest_time == request.time.has_value())
    return store::refuse_invalid(
        "Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both");
  return {};
}

// Tables of other accounts and regions are not found.
store::Answer<TablePointer> find_source(const Core& core, const store::RestoreToPointInTimeRequest& request) {
  std::string name = request.source_table_name.value_or("");
  if (request.source_table_arn) {
    const std::string ours = core.table_arn("");
    name = request.source_table_arn->starts_with(ours) ? request.source_table_arn->substr(ours.size())
                                                       : *request.source_table_arn;
  }
  TablePointer source = core.find_table(name);
  if (!source) return store::refuse(store::ErrorType::table_not_found, "Table not found: " + name);
  return source;
}

store::Answer<base::TimePoint> restored_second(const Core& core, const Table& source,
                                               const store::RestoreToPointInTimeRequest& request) {
  const std::optional<RestorableWindow> window = restorable_window(core, source);
  if (!window)
    return store::refuse(store::ErrorType::point_in_time_recovery_unavailable,
                         "Point in time recovery is not enabled for table '" + source.name + "'");
  if (!request.time) return window->latest;
  const base::TimePoint second = std::chrono::floor<std::chrono::seconds>(*request.time);
  if (second < window->earliest || second > window->latest)
    return store::refuse(store::ErrorType::invalid_restore_time,
                         "Invalid Request: RestoreDateTime must be between EarliestRestorableDateTime " +
                             base::format_timestamp(window->earliest) + " and LatestRestorableDateTime " +
                             base::format_timestamp(window->latest));
  return second;
}

std::string describe_source(const Core& core, const Restore& restore) {
  if (!restore.backup) return "table: " + restore.source_arn;
  return "backup: " + core.backup_arn(restore.source_arn.substr(core.table_arn("").size()), *restore.backup);
}

store::Answer<void> check_target(const Core& core, const std::string& name) {
  const CatalogState& state = *core.catalog->state();
  const auto found = state.tables.find(name);
  if (found != state.tables.end()) {
    const Table& existing = *found->second;
    if (existing.restore)
      return store::refuse(store::ErrorType::table_in_use, "Table: " + name + " is already being restored from " +
                                                               describe_source(core, *existing.restore));
    if (!existing.serves_items())
      return store::refuse(
          store::ErrorType::table_in_use,
          "Table is being " + std::string(existing.is_being_created() ? "created: " : "deleted: ") + name);
    return store::refuse(store::ErrorType::table_already_exists, "Table already exists: " + name);
  }
  if (std::ranges::count_if(state.tables, [](const auto& each) { return each.second->restore.has_value(); }) >=
      most_restores)
    return store::refuse(store::ErrorType::limit_exceeded,
                         "Subscriber limit exceeded: There is a limit of 50 restores at a time");
  return check_room_for_table(state);
}

}  // namespace

store::Answer<store::TableDescription> begin_restore(Core& core, const Table& source, const Restore& restore,
                                                     const std::string& target,
                                                     const store::RestoreOverrides& overrides) {
  TRY_VOID(check_target(core, target));
  TRY(const store::CreateTableRequest definition, restored_definition(source, target, overrides));
  TRY_VOID(check_create_table(definition));
  Table table = make_table(definition, core.options, core.now());
  table.restore = restore;
  // What is committed from now on comes after that time, even if the second is not over yet.
  core.queue->begin_time(restore.end());
  TRY_VOID(core.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    commit_creation(core, std::nullopt, table, state, entry);
    return {};
  }));
  if (core.wake_maintenance) core.wake_maintenance();
  return describe_table(core, table);
}

store::Answer<store::TableDescription> BackupOperations::restore_to_point_in_time(
    const store::RestoreToPointInTimeRequest& request) {
  TRY_VOID(check_restore(request));
  std::lock_guard control(core_.control_mutex);
  TRY(const TablePointer source, find_source(core_, request));
  TRY(const base::TimePoint second, restored_second(core_, *source, request));
  return begin_restore(core_, *source, {core_.table_arn(source->name), source->id, second, {}, {}},
                       request.target_table_name, request.overrides);
}

}  // namespace postino::engine
