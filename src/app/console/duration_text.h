// Durations as people write them: a whole number and a unit.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace postino::app {

// "250ms", "30s", "5m", "4h" or "30d".
base::Result<base::Milliseconds> parse_duration(const std::string& text);
std::string show_duration(base::Milliseconds duration);

}  // namespace postino::app
