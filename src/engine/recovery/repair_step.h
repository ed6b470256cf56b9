#pragma once

#include <functional>
#include <string_view>

namespace postino::engine {

// Told what a repair has just done, so that a test can see what a process that ends there leaves behind.
using AtStep = std::function<void(std::string_view step)>;

}  // namespace postino::engine
