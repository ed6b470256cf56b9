// How long to wait before trying again.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/random.h"

namespace postino::base {

struct Backoff {
  Milliseconds first{30};  // the ceiling of the first delay; it doubles with each failure
  Milliseconds longest{1'000};

  // After this many failures (from 1): anything from nothing to the ceiling, so that those who failed together do not
  // come back together.
  Milliseconds full_jitter(int failures, Random& random) const;

  // The same, never less than half of the ceiling: for servers that asked to be left alone.
  Milliseconds equal_jitter(int failures, Random& random) const { return equal_jitter(failures, random.next()); }
  // The same for code that must not ask for randomness itself: `number` is any random number.
  Milliseconds equal_jitter(int failures, std::uint64_t number) const;

 private:
  Milliseconds ceiling(int failures) const;
};

}  // namespace postino::base
