// Files that a user names on the command line.
#pragma once

#include <string>

#include "base/result.h"

namespace postino::app {

// The whole of it; "-" is the standard input. Fails when it cannot be read or has more than `most_bytes`.
base::Result<std::string> read_input(const std::string& name, std::size_t most_bytes);

}  // namespace postino::app
