// Where the lines of the log go, and which of them: what may change while the process runs.
#pragma once

#include <string>

#include "base/log.h"
#include "base/result.h"

namespace postino::base {

// Events below `least` are dropped. Safe to call from any thread.
void set_log_level(LogLevel least);

// Where lines go from now on: to the end of this file, which is created if it is missing, or with an empty name to
// standard error. A file that was moved away is left: lines go to a new one. If it fails, they go where they went.
Result<void> open_log(const std::string& file);

}  // namespace postino::base
