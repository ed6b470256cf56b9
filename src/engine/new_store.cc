#include "engine/new_store.h"

#include <system_error>
#include <vector>

#include "engine/storage/data_directory.h"

namespace postino::engine {

void remove_new_store(const std::filesystem::path& directory, const std::set<std::filesystem::path>& kept) {
  const auto lock = DataDirectoryLock::take(directory);
  if (!lock) return;
  std::error_code error;
  std::vector<std::filesystem::path> made;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (!kept.contains(entry->path().filename())) made.push_back(entry->path());
  for (const std::filesystem::path& each : made) std::filesystem::remove_all(each, error);
}

}  // namespace postino::engine
