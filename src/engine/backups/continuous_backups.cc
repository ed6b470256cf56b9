#include "engine/backups/backup_operations.h"
#include "engine/backups/restorable_window.h"
#include "engine/storage/keys.h"
#include "store/constraints.h"

namespace postino::engine {

namespace {

store::Error no_such_table_to_back_up(const std::string& table_name) {
  return {store::ErrorType::table_not_found, "Table not found: " + table_name};
}

store::Answer<void> check_recovery(const std::string& table_name,
                                   const store::PointInTimeRecoverySpecification& specification) {
  constexpr std::string_view path = "pointInTimeRecoverySpecification.recoveryPeriodInDays";
  store::Constraints constraints;
  if (specification.recovery_period_days) {
    constraints.check_at_least(path, *specification.recovery_period_days, 1);
    constraints.check_at_most(path, *specification.recovery_period_days, longest_recovery_days);
  }
  constraints.check_name("tableName", table_name);
  TRY_VOID(constraints.outcome());
  if (!specification.enabled && specification.recovery_period_days)
    return store::refuse_invalid(
        "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery.");
  return {};
}

// What is filled from the table needs its records to the end.
store::Answer<void> check_may_disable(const CatalogState& state, const Table& table) {
  const TablePointer filled = filled_from(state, table.id);
  if (!filled) return {};
  const std::string what = is_image_of(*filled, table)
                               ? "A backup is being created of the table: "
                               : "Table " + filled->name + " is being restored from the table: ";
  return store::refuse(store::ErrorType::continuous_backups_unavailable, what + table.name + ". Please retry later");
}

store::PointInTimeRecoveryDescription describe_recovery(const Core& core, const Table& table) {
  store::PointInTimeRecoveryDescription description;
  const std::optional<RestorableWindow> window = restorable_window(core, table);
  if (!window) return description;
  description.enabled = true;
  description.recovery_period_days = table.recovery->period_days;
  description.earliest_restorable = window->earliest;
  description.latest_restorable = window->latest;
  return description;
}

}  // namespace

store::Answer<store::PointInTimeRecoveryDescription> BackupOperations::update_continuous_backups(
    const std::string& table_name, const store::PointInTimeRecoverySpecification& specification) {
  TRY_VOID(check_recovery(table_name, specification));
  std::lock_guard control(core_.control_mutex);
  const TablePointer before = core_.catalog->find(table_name);
  if (!before) return base::propagate(no_such_table_to_back_up(table_name));
  if (before->is_being_created())
    return store::refuse(store::ErrorType::continuous_backups_unavailable,
                         "Backups are being enabled for the table: " + table_name + ". Please retry later");
  if (!specification.enabled) TRY_VOID(check_may_disable(*core_.catalog->state(), *before));
  Table after = *before;
  TRY_VOID(core_.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    if (specification.enabled) {
      // Changes that are planned behind this have records, and no earlier time.
      if (!after.recovery) after.recovery = PointInTimeRecovery{core_.queue->take_commit_time(), {}, {}};
      after.recovery->period_days = specification.recovery_period_days.value_or(longest_recovery_days);
    } else if (after.recovery) {
      after.recovery.reset();
      entry.remove_range(Family::undo, id_prefix(after.id), id_prefix(after.id + 1));
    }
    put_table(state, entry, after);
    return {};
  }));
  return describe_recovery(core_, after);
}

store::Answer<store::PointInTimeRecoveryDescription> BackupOperations::describe_continuous_backups(
    const std::string& table_name) {
  TRY_VOID(store::check_table_name(table_name));
  const TablePointer table = core_.catalog->find(table_name);
  if (!table) return base::propagate(no_such_table_to_back_up(table_name));
  return describe_recovery(core_, *table);
}

}  // namespace postino::engine
