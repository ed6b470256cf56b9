// What a copy has done, for people and for programs.
#pragma once

#include <string>

#include "app/console/console.h"
#include "app/copy/service_copy.h"

namespace postino::app {

// What the sides are called in the report.
struct CopyNames {
  std::string from;
  std::string to;
};

std::string copy_json(const CopyOutcome& outcome);
void print_copy(const CopyOutcome& outcome, const CopyNames& names, const Console& console);
// What failed and what is worth knowing, on the console's errors.
void print_copy_troubles(const CopyOutcome& outcome, const Console& console);

}  // namespace postino::app
