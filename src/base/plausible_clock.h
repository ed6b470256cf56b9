// A clock that does not follow every jump of the one it reads.
//
// Time that passes is measured by the monotonic clock, which cannot be set. When the wall clock says something else,
// by more than a tolerance, it has been set, or is wrong. Then this clock goes on from the last plausible time, until
// the wall clock is back where it should be, or has stayed where it jumped to for long enough to be believed. So what
// goes wrong for a while ends no lease, sends nothing early and deletes nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace postino::base {

// Between the last time that a process has noted and the time now: a larger gap may be a clock that was set wrongly.
inline constexpr Milliseconds notable_clock_gap = std::chrono::hours(24);

struct ClockRules {
  Milliseconds tolerance = std::chrono::seconds(10);  // small corrections are followed at once
  Milliseconds believed_after = std::chrono::minutes(5);
  Milliseconds notable_gap = notable_clock_gap;
};

// Safe to call from any thread.
class PlausibleClock final : public Clock {
 public:
  // Says in the log, under the name, when it jumps. The source must outlive it; what it says first is believed.
  explicit PlausibleClock(const Clock& source, std::string name = "the clock", ClockRules rules = {});

  TimePoint now() const override;
  Milliseconds monotonic() const override { return source_.monotonic(); }
  // A source that is behind that time is taken for one that has jumped back. One that is far ahead of it may be right:
  // the machine was off. It is followed, but doubted for a while, and may be set back meanwhile.
  void note_past(TimePoint past) override;
  // What it was told of.
  std::optional<TimePoint> past() const;
  // Does the source say something else at the moment? Then one of the two is wrong, and it may be this one.
  bool is_suspicious() const { return is_suspicious_; }
  bool is_doubtful() const override { return source_.monotonic().count() < doubtful_until_; }

  // Their names begin with the prefix and end with _jumps_total and _suspicious.
  void append_metrics(std::string& out, const std::string& prefix = "postino_clock") const;

 private:
  // What the source says, and the monotonic time it said it at.
  struct Look {
    TimePoint wall;
    Milliseconds at;
    std::int64_t offset() const { return epoch_milliseconds(wall) - at.count(); }
  };
  Look look() const;
  bool are_near(std::int64_t a, std::int64_t b) const;
  void suspect(const Look& seen) const;
  TimePoint judge(const Look& seen) const;

  const Clock& source_;
  const std::string name_;
  const ClockRules rules_;
  mutable std::mutex mutex_;                       // for those who have seen a jump
  mutable std::atomic<std::int64_t> trusted_ = 0;  // from monotonic time to plausible time
  mutable std::atomic<bool> is_suspicious_ = false;
  mutable std::int64_t suspected_ = 0;  // the offset after the jump
  mutable Milliseconds suspected_since_{0};
  mutable std::atomic<std::uint64_t> jumps_ = 0;
  mutable std::atomic<std::int64_t> doubtful_until_ = 0;  // in milliseconds of monotonic time
  std::optional<TimePoint> past_;                         // that a process before this one has reached
};

// Looks whether the time can be right, before anything is deleted because of its age. All who delete by age ask it.
//
// A clock that is a day or more ahead of the last time that was noted, or of the time that has passed since the last
// look, may be right: the machine was switched off for two months. Or an operator has set it wrongly, and notices soon.
// So deletion waits for an hour. A clock that is behind is wrong, or was then: PlausibleClock does not follow it for a
// while. Used by one thread at a time.
class AgeWatch {
 public:
  // `part` of the program says in the log when deletion waits; nothing is said if it is empty, because another watch of
  // the same clock does. The clock must outlive it.
  AgeWatch(const Clock& clock, std::string_view part) : clock_(clock), part_(part) {}

  // The time that a process before this one has noted last. To be called before the first look.
  void begin(TimePoint last_noted) { seen_ = last_noted; }
  // To be called in every round, before those who delete.
  void look();
  // May things be deleted because of their age? Not before the first look.
  bool is_trusted() const { return is_trusted_; }

  // The time, when it should be noted for the next process: now and then. What may be wrong is not noted, as the next
  // process would take it for granted.
  std::optional<TimePoint> to_note() const;
  void noted() { noted_at_ = seen_at_; }

 private:
  const Clock& clock_;
  const std::string part_;
  bool is_trusted_ = false;
  std::optional<TimePoint> seen_;
  // By the monotonic clock.
  std::optional<Milliseconds> seen_at_;
  Milliseconds wait_until_{0};
  std::optional<Milliseconds> noted_at_;
};

}  // namespace postino::base
