// Backups of tables: made, shown, deleted and restored from.
#pragma once

#include "engine/catalog/core.h"
#include "store/store.h"

namespace postino::engine {

// Stateless apart from the core; any thread. RestoreRunner fills images and tables.
class EngineBackups final : public store::TableBackups {
 public:
  explicit EngineBackups(Core& core) : core_(core) {}

  store::Answer<store::BackupSummary> create_backup(const std::string& table_name,
                                                    const std::string& backup_name) override;
  store::Answer<store::BackupDescription> describe_backup(const std::string& arn) override;
  store::Answer<store::BackupDescription> delete_backup(const std::string& arn) override;
  store::Answer<store::ListBackupsResponse> list_backups(const store::ListBackupsRequest& request) override;
  store::Answer<store::TableDescription> restore_table_from_backup(
      const store::RestoreFromBackupRequest& request) override;

 private:
  Core& core_;
};

// Removes backups that have expired, and those that were deleted long enough ago. One bounded round.
store::Answer<bool> remove_old_backups(Core& core);

}  // namespace postino::engine
