// The backups of a running server, as others ask about them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backup/backup_reader.h"

namespace postino::backup {

// What is going on, and what became of the last one that this process began.
struct BackupState {
  std::string place;
  bool sealed = false;
  std::string doing;  // "writing", "verifying", "removing"; empty when nothing is
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t new_bytes = 0;
  std::string last_id;                    // of the last one that was written, or was to be
  std::optional<base::TimePoint> ended;   // when the last one ended
  std::string problem;                    // why it failed, or what is wrong with it; empty when it is sound
  std::optional<base::TimePoint> newest;  // when the newest backup of the place was taken, if that is known
  std::optional<base::TimePoint> next;    // when the next one begins by itself
};

// Safe to use from any thread.
class Backups {
 public:
  virtual ~Backups() = default;

  // Begins one now, and does not wait for it. conflict when one is under way.
  virtual base::Result<void> begin() = 0;
  virtual BackupState state() const = 0;
  // Asks the place.
  virtual base::Result<std::vector<ListedBackup>> list() = 0;
};

}  // namespace postino::backup
