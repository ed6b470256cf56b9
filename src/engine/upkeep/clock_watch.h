// Looks whether the clock can be right, before anything is deleted because of its age.
//
// The store remembers when it was last open. A clock that is a day or more ahead of that, or of the time that has
// passed since the last look, may be right: the machine was switched off for two months. Or an operator has set it
// wrongly, and notices soon. So deletion waits for an hour. A clock that is behind the last time is wrong, or was then:
// base::PlausibleClock does not follow it for a while.
#pragma once

#include <optional>

#include "engine/catalog/core.h"

namespace postino::engine {

// Tells the store's clock when the store was last open. To be called before the clock is used.
base::Result<void> tell_clock_of_last_time(Core& core);

// Used by one thread at a time.
class ClockWatch {
 public:
  explicit ClockWatch(Core& core) : core_(core) {}

  // To be called in every round, before those who delete. Writes down the time now and then; nothing more to do.
  store::Answer<bool> run_once();
  // May things be deleted because of their age?
  bool is_trusted() const { return is_trusted_; }

 private:
  base::Result<void> begin(base::TimePoint now);
  base::Result<void> note(base::TimePoint now);

  Core& core_;
  bool is_trusted_ = false;  // until the first look
  std::optional<base::TimePoint> seen_;
  // By the monotonic clock.
  base::Milliseconds seen_at_{0};
  base::Milliseconds wait_until_{0};
  std::optional<base::Milliseconds> noted_at_;
};

}  // namespace postino::engine
