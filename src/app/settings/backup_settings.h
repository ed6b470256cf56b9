// What can be configured about backups of the whole store.
#pragma once

#include <optional>
#include <string>

#include "app/settings/bucket_place.h"
#include "base/clock.h"

namespace postino::app {

struct BackupSettings {
  std::string place;                                  // a directory, or "s3://BUCKET/PREFIX"; empty: there are none
  base::Milliseconds every = std::chrono::hours(24);  // 0: only when they are asked for
  base::Milliseconds kept = std::chrono::hours(24 * 30);
  std::string key;  // where the master key is: "file:PATH", "env:NAME" or "command:LINE"; empty: they are not sealed
};

// nullopt: they are in a directory, or there are none.
std::optional<BucketPlace> bucket_of_backups(const BackupSettings& settings);

}  // namespace postino::app
