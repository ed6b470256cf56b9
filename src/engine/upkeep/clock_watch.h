// Notes in the store what time it is, and tells the maintenance whether things may be deleted because of their age.
#pragma once

#include "base/plausible_clock.h"
#include "engine/catalog/core.h"

namespace postino::engine {

// Tells the store's clock when the store was last open. To be called before the clock is used.
base::Result<void> tell_clock_of_last_time(Core& core);

// Used by one thread at a time.
class ClockWatch {
 public:
  explicit ClockWatch(Core& core) : core_(core), ages_(*core.options.clock, "maintenance") {}

  // To be called in every round, before those who delete. Writes down the time now and then; nothing more to do.
  store::Answer<bool> run_once();
  // May things be deleted because of their age?
  bool is_trusted() const { return ages_.is_trusted(); }

 private:
  base::Result<void> note(base::TimePoint now);

  Core& core_;
  base::AgeWatch ages_;
  bool has_begun_ = false;
};

}  // namespace postino::engine
