// The time as the service has it. A signature counts by the service's clock; ours may be wrong.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/clock.h"

namespace postino::remote {

// Safe to use from any thread.
class ServiceClock final : public base::Clock {
 public:
  // Ours must outlive it.
  explicit ServiceClock(const base::Clock& ours) : ours_(ours) {}

  base::TimePoint now() const override { return ours_.now() + base::Milliseconds(ahead_.load()); }

  base::Milliseconds monotonic() const override { return ours_.monotonic(); }

  // Learns from the header Date of an answer. Differences of seconds are of the way, and are not followed. True when
  // the time is another one now by more than a minute: what was signed before may be accepted when it is signed again.
  bool learn(std::string_view date);

 private:
  const base::Clock& ours_;
  std::atomic<std::int64_t> ahead_ = 0;  // milliseconds that the service is ahead of us
};

}  // namespace postino::remote
