// Time comes in through an interface, so that a test can run a day in a millisecond.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>

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

  // Time that cannot be set, since some moment in the past: what has passed is the difference of two answers. It goes
  // on while the machine is suspended.
  virtual Milliseconds monotonic() const {
    timespec time{};
    ::clock_gettime(CLOCK_BOOTTIME, &time);
    return std::chrono::duration_cast<Milliseconds>(std::chrono::seconds(time.tv_sec) +
                                                    std::chrono::nanoseconds(time.tv_nsec));
  }

  // Tells of a time that a process before this one has reached, for clocks that do not believe everything.
  virtual void note_past(TimePoint) {}
  // May the time be wrong? Then nothing should be done because its time has come.
  virtual bool is_doubtful() const { return false; }
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
  Milliseconds monotonic() const override { return Milliseconds(passed_.load()); }
  void advance(Milliseconds step) {
    now_ += step.count();
    passed_ += step.count();
  }
  // As when an operator sets the clock: no time passes.
  void set_by(Milliseconds step) { now_ += step.count(); }

 private:
  std::atomic<std::int64_t> now_;
  std::atomic<std::int64_t> passed_ = 0;
};

}  // namespace postino::base
