// The place of backups, and the master key, as the settings name them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/settings/settings.h"
#include "backup/master_key.h"
#include "backup/place.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/this_thread.h"

namespace postino::app {

struct BackupPlace {
  std::unique_ptr<objects::ObjectStore> objects;
  std::unique_ptr<backup::Place> place;
};

// A directory is made if it is missing, unless `only_reads`. Calls no bucket yet. What is given must outlive it.
base::Result<BackupPlace> open_backup_place(const Settings& settings, const base::Clock& clock, base::Random& random,
                                            base::Pause& pause, bool only_reads);

// Of a setting such as --backup-key: nullopt when it is empty. A command is run by the shell, and prints the key.
// Errors say where it was looked for.
base::Result<std::optional<backup::MasterKey>> read_master_key(const std::string& source);

}  // namespace postino::app
