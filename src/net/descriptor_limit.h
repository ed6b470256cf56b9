// How many files and connections the process may have open.
#pragma once

#include <cstdint>

namespace postino::net {

// Raises the limit as far as the process is allowed to, and returns what it is then.
std::uint64_t raise_descriptor_limit();

}  // namespace postino::net
