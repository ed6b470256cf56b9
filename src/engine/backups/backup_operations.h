// Operations on what tables were: point-in-time recovery and restores.
#pragma once

#include "engine/catalog/core.h"
#include "store/table_operations.h"

namespace postino::engine {

// Stateless apart from the core; any thread.
class BackupOperations {
 public:
  explicit BackupOperations(Core& core) : core_(core) {}

  store::Answer<store::PointInTimeRecoveryDescription> update_continuous_backups(
      const std::string& table_name, const store::PointInTimeRecoverySpecification& specification);
  store::Answer<store::PointInTimeRecoveryDescription> describe_continuous_backups(const std::string& table_name);
  // The table is filled by RestoreRunner.
  store::Answer<store::TableDescription> restore_to_point_in_time(const store::RestoreToPointInTimeRequest& request);

 private:
  Core& core_;
};

// Makes the table that is to be filled, by a definition that is the source's but for the overrides. The caller holds
// the control mutex.
store::Answer<store::TableDescription> begin_restore(Core& core, const Table& source, const Restore& restore,
                                                     const std::string& target,
                                                     const store::RestoreOverrides& overrides);

}  // namespace postino::engine
