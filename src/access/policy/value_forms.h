// Forms of values in policies.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace postino::access {

// A date and time as ISO 8601 has it ("2026-11-15", "2026-11-15T09:30Z", "2026-11-15T09:30:00.250+01:00"), or seconds
// since 1970. A date alone is its first moment in UTC.
std::optional<base::TimePoint> parse_moment(std::string_view text);

}  // namespace postino::access
