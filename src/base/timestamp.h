// Moments as text: RFC 3339, in UTC, to the millisecond.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace postino::base {

// "2026-11-15T09:30:00.250Z". Texts of this form sort like the moments, for the years 0 to 9999.
std::string format_timestamp(TimePoint time);

// "20261115": the day it falls on, in UTC.
std::string format_day(TimePoint time);

// The first moment of the day after.
TimePoint end_of_day(TimePoint time);

// Any RFC 3339 date and time with an offset or Z; fractions beyond the millisecond are cut off. Fails with the rule.
Result<TimePoint> parse_timestamp(std::string_view text);

}  // namespace postino::base
