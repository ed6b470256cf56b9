#include "engine/backups/table_backups.h"

#include <algorithm>

#include "engine/backups/backup_operations.h"
#include "engine/tables/kept_image.h"
#include "engine/tables/table_description.h"
#include "store/constraints.h"

namespace postino::engine {

namespace {

constexpr int most_listed_backups = 100;
constexpr std::size_t least_arn_length = 37;
constexpr std::size_t most_arn_length = 1'024;

store::Error no_such_backup(const std::string& arn) {
  return {store::ErrorType::backup_not_found, "Backup not found: " + arn};
}

store::Error backup_in_use(const std::string& reason) { return {store::ErrorType::backup_in_use, reason}; }

store::Answer<void> check_arn(const std::string& arn) {
  store::Constraints constraints;
  constraints.check_length("backupArn", arn, least_arn_length, most_arn_length);
  return constraints.outcome();
}

std::string arn_of_backup(const Core& core, const Backup& backup) {
  return core.backup_arn(backup.table.name, backup.id);
}

// Also one that was deleted and is still kept.
store::Answer<BackupPointer> find_backup(const Core& core, const CatalogState& state, const std::string& arn) {
  const auto found = state.backups.find(std::string_view(arn).substr(arn.rfind('/') + 1));
  if (found == state.backups.end() || arn_of_backup(core, *found->second) != arn)
    return base::propagate(no_such_backup(arn));
  return found->second;
}

store::BackupStatus backup_status(const Backup& backup) {
  if (backup.deleted) return store::BackupStatus::deleted;
  return backup.is_being_made() ? store::BackupStatus::creating : store::BackupStatus::available;
}

store::BackupSummary backup_summary(const Core& core, const Backup& backup) {
  store::BackupSummary summary;
  summary.arn = arn_of_backup(core, backup);
  summary.name = backup.name;
  summary.type = backup.type;
  summary.status = backup_status(backup);
  summary.created = backup.created;
  summary.expires = backup.expires;
  summary.size_bytes = backup.table.statistics->bytes;
  summary.table_name = backup.table.name;
  summary.table_arn = core.table_arn(backup.table.name);
  summary.table_id = backup.table.uuid;
  return summary;
}

store::BackupDescription backup_description(const Core& core, const Backup& backup) {
  store::BackupDescription description{backup_summary(core, backup), describe_settled(core, backup.table), {}};
  description.table.restore.reset();
  if (backup.table.time_to_live) description.time_to_live_attribute = backup.table.time_to_live->attribute;
  return description;
}

// One that can be backed up now.
store::Answer<TablePointer> find_table_to_back_up(const Core& core, const std::string& table_name) {
  TablePointer table = core.catalog->find(table_name);
  if (!table) return store::refuse(store::ErrorType::table_not_found, "Table not found: " + table_name);
  if (table->is_being_created())
    return store::refuse(store::ErrorType::continuous_backups_unavailable,
                         "Backups are being enabled for the table: " + table_name + ". Please retry later");
  if (!table->serves_items())
    return store::refuse(store::ErrorType::table_in_use, "Table is being deleted: " + table_name);
  return table;
}

store::Answer<void> check_backup_list(const store::ListBackupsRequest& request) {
  store::Constraints constraints;
  if (request.table_name) constraints.check_name("tableName", *request.table_name);
  if (request.limit) {
    constraints.check_at_least("limit", *request.limit, 1);
    constraints.check_at_most("limit", *request.limit, most_listed_backups);
  }
  if (request.exclusive_start_arn)
    constraints.check_length("exclusiveStartBackupArn", *request.exclusive_start_arn, least_arn_length,
                             most_arn_length);
  return constraints.outcome();
}

bool is_listed_backup(const Backup& backup, const store::ListBackupsRequest& request) {
  return !backup.deleted && (!request.type || backup.type == *request.type) &&
         (!request.table_name || backup.table.name == *request.table_name) &&
         (!request.from || backup.created >= *request.from) && (!request.until || backup.created < *request.until);
}

}  // namespace

store::Answer<store::BackupSummary> EngineBackups::create_backup(const std::string& table_name,
                                                                 const std::string& backup_name) {
  store::Constraints constraints;
  constraints.check_name("tableName", table_name);
  constraints.check_name("backupName", backup_name);
  TRY_VOID(constraints.outcome());
  std::lock_guard control(core_.control_mutex);
  TRY(const TablePointer source, find_table_to_back_up(core_, table_name));
  const CatalogStatePointer before = core_.catalog->state();
  TRY_VOID(check_room_for_backup(*before));
  // What is committed from now on is later, and leaves a record of what was there.
  const base::TimePoint time = core_.queue->commit_time();
  const base::TimePoint end = time + base::Milliseconds(1);
  core_.queue->begin_time(end);
  Backup backup;
  backup.id = new_backup_id(core_, *before);
  backup.name = backup_name;
  backup.created = core_.now();
  TRY_VOID(core_.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    backup.table = kept_definition(*source);
    backup.table.id = core_.catalog->take_id(entry);
    backup.table.statistics = std::make_shared<Statistics>();
    backup.table.restore = Restore{core_.table_arn(source->name), source->id, time, std::nullopt, end};
    put_backup(state, entry, backup);
    if (source->keeps_undo_records()) return {};
    Table recorded = *source;
    recorded.is_recorded = true;
    put_table(state, entry, std::move(recorded));
    return {};
  }));
  if (core_.wake_maintenance) core_.wake_maintenance();
  store::BackupSummary summary = backup_summary(core_, backup);
  summary.size_bytes = source->statistics->bytes;
  return summary;
}

store::Answer<store::BackupDescription> EngineBackups::describe_backup(const std::string& arn) {
  TRY_VOID(check_arn(arn));
  TRY(const BackupPointer backup, find_backup(core_, *core_.catalog->state(), arn));
  return backup_description(core_, *backup);
}

store::Answer<store::BackupDescription> EngineBackups::delete_backup(const std::string& arn) {
  TRY_VOID(check_arn(arn));
  std::lock_guard control(core_.control_mutex);
  const CatalogStatePointer before = core_.catalog->state();
  TRY(const BackupPointer backup, find_backup(core_, *before, arn));
  if (backup->deleted) return base::propagate(no_such_backup(arn));
  if (backup->is_being_made()) return base::propagate(backup_in_use("Backup is being created: " + arn));
  if (filled_from(*before, backup->table.id))
    return base::propagate(backup_in_use("Backup is being used to restore another table: " + arn));
  Backup deleted = *backup;
  deleted.deleted = core_.now();
  TRY_VOID(core_.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    if (core_.options.deletion_delay > base::Milliseconds::zero())
      put_backup(state, entry, deleted);
    else
      remove_backup(state, entry, *backup);
    return {};
  }));
  return backup_description(core_, deleted);
}

store::Answer<store::ListBackupsResponse> EngineBackups::list_backups(const store::ListBackupsRequest& request) {
  TRY_VOID(check_backup_list(request));
  const auto limit = static_cast<std::size_t>(request.limit.value_or(most_listed_backups));
  const CatalogStatePointer state = core_.catalog->state();
  auto next = state->backups.begin();
  if (const auto& start = request.exclusive_start_arn)
    next = state->backups.upper_bound(std::string_view(*start).substr(start->rfind('/') + 1));
  store::ListBackupsResponse response;
  for (; next != state->backups.end(); ++next) {
    if (!is_listed_backup(*next->second, request)) continue;
    if (response.backups.size() == limit) {
      response.last_evaluated_arn = response.backups.back().arn;
      break;
    }
    response.backups.push_back(backup_summary(core_, *next->second));
  }
  return response;
}

store::Answer<store::TableDescription> EngineBackups::restore_table_from_backup(
    const store::RestoreFromBackupRequest& request) {
  store::Constraints constraints;
  constraints.check_name("targetTableName", request.target_table_name);
  constraints.check_length("backupArn", request.backup_arn, least_arn_length, most_arn_length);
  TRY_VOID(constraints.outcome());
  std::lock_guard control(core_.control_mutex);
  const CatalogStatePointer before = core_.catalog->state();
  TRY(const BackupPointer backup, find_backup(core_, *before, request.backup_arn));
  if (backup->is_being_made()) return base::propagate(backup_in_use("Backup is being created: " + request.backup_arn));
  if (filled_from(*before, backup->table.id))
    return base::propagate(backup_in_use("Backup is being used to restore another table: " + request.backup_arn));
  const Restore restore{core_.table_arn(backup->table.name), backup->table.id, backup->created, backup->id,
                        backup->created};
  return begin_restore(core_, backup->table, restore, request.target_table_name, request.overrides);
}

store::Answer<bool> remove_old_backups(Core& core) {
  const std::lock_guard control(core.control_mutex);
  const CatalogStatePointer before = core.catalog->state();
  const base::TimePoint now = core.now();
  std::vector<BackupPointer> old;
  for (const auto& [id, backup] : before->backups) {
    const bool is_over = (backup->expires && *backup->expires <= now) ||
                         (backup->deleted && *backup->deleted + core.options.deletion_delay <= now);
    if (is_over && !backup->is_being_made() && !filled_from(*before, backup->table.id)) old.push_back(backup);
  }
  if (old.empty()) return false;
  TRY_VOID(core.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    for (const BackupPointer& backup : old) remove_backup(state, entry, *backup);
    return {};
  }));
  return false;
}

}  // namespace postino::engine
