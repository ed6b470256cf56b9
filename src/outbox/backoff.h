// How long to wait before trying again.
#pragma once

#include "base/clock.h"
#include "base/random.h"

namespace postino::outbox {

struct Backoff {
  base::Milliseconds first{30};  // the ceiling of the first delay; it doubles with each failure
  base::Milliseconds longest{1'000};

  // After this many failures (from 1): anything from nothing to the ceiling, so that those who failed together do not
  // come back together.
  base::Milliseconds full_jitter(int failures, base::Random& random) const;

  // The same, never less than half of the ceiling: for servers that asked to be left alone.
  base::Milliseconds equal_jitter(int failures, base::Random& random) const;

 private:
  base::Milliseconds ceiling(int failures) const;
};

}  // namespace postino::outbox
