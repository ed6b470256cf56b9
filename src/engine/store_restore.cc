#include "engine/store_restore.h"

#include <sys/stat.h>

#include <cerrno>
#include <vector>

#include "engine/recovery/repair_files.h"

namespace postino::engine {

namespace {

namespace fs = std::filesystem;

// Made with the file system, and empty as far as others go.
bool is_own_of_disk(const fs::path& path) { return path.filename() == "lost+found"; }

base::Result<std::vector<fs::path>> entries_of(const fs::path& directory) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (!is_own_of_disk(entry->path())) entries.push_back(entry->path());
  if (error) return repair_failure("read", directory, error);
  return entries;
}

}  // namespace

base::Result<StoreRestore> StoreRestore::begin(const fs::path& directory) {
  if (::mkdir(directory.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return repair_failure("create", directory, last_system_error());
  TRY(DataDirectoryLock lock, DataDirectoryLock::take(directory));
  TRY(const std::vector<fs::path> entries, entries_of(directory));
  const fs::path place = restore_directory(directory);
  if (!entries.empty() && !is_path_there(place))
    return base::invalid("'" + directory.string() + "' is not empty: a store is restored to an empty directory only");
  // The place goes last: as long as it is there, what is left of a restore is known for that.
  for (const fs::path& entry : entries)
    if (entry != place) TRY_VOID(remove_path(entry));
  TRY_VOID(sync_path_of_repair(directory));
  TRY_VOID(remove_path(place));
  TRY_VOID(make_private_directory(place));
  TRY_VOID(sync_path_of_repair(directory));
  return StoreRestore(directory, std::move(lock));
}

void StoreRestore::abandon() const { static_cast<void>(remove_path(place())); }

base::Result<StoreCheck> StoreRestore::finish(const base::Clock& clock) {
  TRY(StoreCheck check, check_locked_store(place(), clock));
  if (!check.sound()) return check;
  TRY(const std::vector<fs::path> entries, entries_of(place()));
  for (const fs::path& entry : entries) TRY_VOID(move_path(entry, directory_ / entry.filename()));
  TRY_VOID(sync_path_of_repair(directory_));
  TRY_VOID(remove_path(place()));
  TRY_VOID(sync_path_of_repair(directory_));
  return check;
}

}  // namespace postino::engine
