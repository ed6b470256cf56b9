// How much tests of chance do: random operations, kills, power losses, contending threads.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace postino::base {

// POSTINO_TEST_EFFORT, or 1: what `make test` has time for. `make soak` asks for more.
inline int test_effort() {
  const char* value = std::getenv("POSTINO_TEST_EFFORT");
  return value == nullptr ? 1 : std::max(1, std::atoi(value));
}

}  // namespace postino::base
