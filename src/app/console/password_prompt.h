// Passwords that a person types.
#pragma once

#include <string>

#include "app/console/console.h"
#include "base/result.h"

namespace postino::app {

// Of a terminal: asked for, and not shown while it is typed. Otherwise the first line of the standard input.
base::Result<std::string> read_password(const Console& console);
// The same, asked for twice.
base::Result<std::string> read_new_password(const Console& console);

}  // namespace postino::app
