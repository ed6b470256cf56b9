// Which files a backup of a store consists of, and where they are put when it is restored.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/settings/settings.h"
#include "backup/backup_writer.h"
#include "base/random.h"

namespace postino::app {

// A file of the data directory: the id of the store, which restored ones have as well.
inline constexpr const char* store_id_name = "STORE-ID";
// A file of the data directory of a restored store: which backup it comes from. The next start tells the audit, and
// takes it away.
inline constexpr const char* restored_name = "RESTORED";

// The store as it is in the checkpoint, the other files of the data directory, and what lies beside the store in
// directories: the spool and the objects, also when they are elsewhere. To be called after the checkpoint was made:
// they are written before the store refers to them, and none is removed that an e-mail needs.
base::Result<std::vector<backup::SourceFile>> files_of_backup(const Settings& settings,
                                                              const std::filesystem::path& checkpoint);

// Notes in the place of a restored store from which backup it comes; returns that id once, and takes the note away.
base::Result<void> note_restored(const std::filesystem::path& data, const std::string& id);
std::optional<std::string> take_restored_note(const std::filesystem::path& data);

// Makes the id if there is none.
base::Result<std::string> store_id(const std::filesystem::path& data, base::Random& random);

}  // namespace postino::app
