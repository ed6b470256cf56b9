// Which backups may go, and taking them away together with what no other one uses.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backup/backup_reader.h"

namespace postino::backup {

inline constexpr std::size_t least_kept_backups = 3;

// Ids of those that were taken longer ago than `keep`. Never one of the last three, never the last that was found to be
// sound, and none that cannot be read: a clock that is wrong takes not all of them. Oldest first.
std::vector<std::string> expired_backups(const std::vector<ListedBackup>& backups, base::TimePoint now,
                                         base::Milliseconds keep);

struct Removal {
  std::vector<std::string> backups;
  std::uint64_t chunks = 0;
  std::string left_because;  // chunks stay as long as a backup cannot be read: it may use them
};
// Takes the manifests away first, then the chunks that no backup names. For one who has the lock of the place; `step`
// is called before each change. What was interrupted is finished by the next one.
base::Result<Removal> remove_backups(Place& place, const std::vector<std::string>& ids,
                                     const std::optional<MasterKey>& master,
                                     const std::function<base::Result<void>()>& step);

}  // namespace postino::backup
