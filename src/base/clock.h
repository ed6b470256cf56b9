// Time comes in through an interface, so that a test can run a day in a millisecond.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace postino::base {

using Milliseconds = std::chrono::milliseconds;
using TimePoint = std::chrono::time_point<std::chrono::system_clock, Milliseconds>;

inline std::int64_t epoch_seconds(TimePoint time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}
inline std::int64_t epoch_milliseconds(TimePoint time) { return time.time_since_epoch().count(); }
inline TimePoint from_epoch_milliseconds(std::int64_t count) { return TimePoint(Milliseconds(count)); }

// Safe to call from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
};

class SystemClock final : public Clock {
 public:
  TimePoint now() const override {
    return std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now());
  }
};

// Stands still until told to move.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(TimePoint start) : now_(epoch_milliseconds(start)) {}
  TimePoint now() const override { return from_epoch_milliseconds(now_.load()); }
  void advance(Milliseconds step) { now_ += step.count(); }

 private:
  std::atomic<std::int64_t> now_;
};

}  // namespace postino::base
