// Writes the files of a backup below a directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "backup/backup_reader.h"

namespace postino::backup {

struct RestoredFiles {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

// Everything that is read is checked. The directory is there, belongs to this process alone, and has none of the files;
// they are private, and all of them are on disk when this returns. When it fails, some may be there: the caller has
// marked the directory, and does away with them. `tell` is called after each file.
base::Result<RestoredFiles> restore_files(BackupReader& reader, const std::filesystem::path& directory,
                                          const std::function<void(const RestoredFiles& so_far)>& tell = {});

}  // namespace postino::backup
