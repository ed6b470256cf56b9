// The database's clock, as this process knows it: what it said when it was asked, and the time that has passed since.
// All who work on one database have the same time, whatever the clocks of their machines say.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "mysql/connection.h"

namespace postino::mysql {

// Safe to call from any thread, but for measure(), which one thread at a time may call.
class DatabaseClock final : public base::Clock {
 public:
  // Says the same as the clock of this machine until it is first measured. `own` must outlive it.
  explicit DatabaseClock(const base::Clock& own);

  base::TimePoint now() const override;
  base::Milliseconds monotonic() const override { return own_.monotonic(); }

  // Asks the database. An answer that took long says little: it is not used while there is a better one.
  Result<void> measure(Connection& connection);

  // How far the clock of this machine is ahead of the database's.
  base::Milliseconds skew() const { return own_.now() - now(); }

 private:
  const base::Clock& own_;
  std::atomic<std::int64_t> offset_;  // from monotonic time to the database's
  bool is_measured_ = false;
  base::Milliseconds measured_at_{0};
};

}  // namespace postino::mysql
