// A backup of a table: an image of its items, as a single commit left them, and what the table was.
//
// The image lies among the items, under a number of its own; it has no indexes and nothing changes it. So nothing has
// to be copied when a table with point-in-time recovery is deleted: its items become the image of the backup that is
// left.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/catalog/table.h"
#include "store/table_operations.h"

namespace postino::engine {

inline constexpr std::string_view deleted_table_backup_suffix = "$DeletedTableBackup";

struct Backup {
  std::string id;  // the end of its ARN: "01767322645678-0a1b2c3d"; in the order in which they were made
  std::string name;
  store::BackupType type = store::BackupType::user;
  base::TimePoint created;
  std::optional<base::TimePoint> expires;
  // It was deleted then, and is kept as long as Options::deletion_delay says.
  std::optional<base::TimePoint> deleted;
  // The table as it was. Its id is that of the image, its statistics are those of the image, and it has `restore` as
  // long as the image is not whole.
  Table table;

  bool is_being_made() const { return table.restore.has_value(); }
};
using BackupPointer = std::shared_ptr<const Backup>;

}  // namespace postino::engine
