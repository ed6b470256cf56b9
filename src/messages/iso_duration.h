// Lengths of time as ISO 8601 writes them: "PT2.5S", "P1DT12H".
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace postino::messages {

// Weeks, days, hours, minutes and seconds, the last of them with a fraction if need be; digits beyond the millisecond
// are cut off. No years and months, whose lengths differ. Fails with the rule.
base::Result<base::Milliseconds> parse_duration(std::string_view text);

// In hours, minutes and seconds: "PT0S", "PT2.5S", "PT25H0.001S". Not for negative ones.
std::string format_duration(base::Milliseconds duration);

}  // namespace postino::messages
