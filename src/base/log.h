// The log of the process: one line per event, on standard error. What customers store does not belong into it.
#pragma once

#include <string_view>

namespace postino::base {

// Safe to call from any thread. The component says who speaks, for example "maintenance".
void log_info(std::string_view component, std::string_view message);
void log_warning(std::string_view component, std::string_view message);
void log_error(std::string_view component, std::string_view message);

}  // namespace postino::base
