// Which version of the program this is.
#pragma once

#include <string_view>

namespace postino::app {

std::string_view program_version();  // "0.1.0"

}  // namespace postino::app
