// What can be configured about the audit of both APIs.
#pragma once

#include <string>

#include "base/clock.h"

namespace postino::app {

struct AuditSettings {
  bool off = false;
  std::string table = "postino-audit";
  base::Milliseconds kept = std::chrono::days(365);  // of entries that are written from now on
};

}  // namespace postino::app
