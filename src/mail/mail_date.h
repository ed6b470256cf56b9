// Moments as RFC 5322 writes them.
#pragma once

#include <string>

#include "base/clock.h"

namespace postino::mail {

// "Sun, 15 Nov 2026 09:30:00 +0000"
std::string mail_date(base::TimePoint time);

}  // namespace postino::mail
