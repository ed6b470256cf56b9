#include "base/plausible_clock.h"

#include <cstdlib>
#include <utility>

#include "base/log.h"
#include "base/metrics_text.h"
#include "base/timestamp.h"

namespace postino::base {

namespace {

// Rounding makes the offset tremble.
constexpr std::int64_t trembling = 50;

constexpr Milliseconds deletion_waits = std::chrono::hours(1);
constexpr Milliseconds noted_every = std::chrono::minutes(5);

std::string seconds_of(std::int64_t milliseconds) { return std::to_string(milliseconds / 1'000); }

}  // namespace

PlausibleClock::PlausibleClock(const Clock& source, std::string name, ClockRules rules)
    : source_(source), name_(std::move(name)), rules_(rules) {
  trusted_ = look().offset();
}

// Who was suspended between two looks at clocks would take that for a jump.
PlausibleClock::Look PlausibleClock::look() const {
  constexpr Milliseconds at_once{100};
  constexpr int patience = 10;
  Look seen{};
  for (int round = 0; round < patience; ++round) {
    seen.at = source_.monotonic();
    seen.wall = source_.now();
    if (source_.monotonic() - seen.at <= at_once) break;
  }
  return seen;
}

bool PlausibleClock::are_near(std::int64_t a, std::int64_t b) const {
  return std::llabs(a - b) <= rules_.tolerance.count();
}

TimePoint PlausibleClock::now() const {
  const Look seen = look();
  const std::int64_t trusted = trusted_.load(std::memory_order_relaxed);
  if (is_suspicious_.load(std::memory_order_relaxed) || !are_near(seen.offset(), trusted)) return judge(seen);
  if (std::llabs(seen.offset() - trusted) > trembling) trusted_ = seen.offset();
  return seen.wall;
}

void PlausibleClock::note_past(TimePoint past) {
  const std::lock_guard lock(mutex_);
  const Look seen = look();
  past_ = past;
  if (seen.wall - past > rules_.notable_gap) {
    doubtful_until_ = (seen.at + rules_.believed_after).count();
    log_warning("clock", name_ + " is far ahead of the last time it was seen: what has become due since then waits",
                {{"seconds", seconds_of((seen.wall - past).count())},
                 {"believed_after_seconds", seconds_of(rules_.believed_after.count())}});
  }
  if (seen.wall + rules_.tolerance >= past) return;
  ++jumps_;
  log_error("clock", name_ + " is behind a time that was reached before, and is not followed for now",
            {{"seconds", seconds_of((past - seen.wall).count())},
             {"believed_after_seconds", seconds_of(rules_.believed_after.count())}});
  trusted_ = epoch_milliseconds(past) - seen.at.count();
  suspect(seen);
}

std::optional<TimePoint> PlausibleClock::past() const {
  const std::lock_guard lock(mutex_);
  return past_;
}

void PlausibleClock::suspect(const Look& seen) const {
  is_suspicious_ = true;
  suspected_ = seen.offset();
  suspected_since_ = seen.at;
}

TimePoint PlausibleClock::judge(const Look& seen) const {
  const std::lock_guard lock(mutex_);
  const std::int64_t jump = seen.offset() - trusted_;
  if (are_near(seen.offset(), trusted_)) {
    if (is_suspicious_) log_info("clock", name_ + " is plausible again");
    is_suspicious_ = false;
    trusted_ = seen.offset();
    return seen.wall;
  }
  if (is_doubtful() && jump < 0 && seen.wall + rules_.tolerance >= past_.value_or(TimePoint())) {
    log_info("clock", name_ + " was ahead, and has been set back", {{"seconds", seconds_of(-jump)}});
    doubtful_until_ = 0;
    is_suspicious_ = false;
    trusted_ = seen.offset();
    return seen.wall;
  }
  if (!is_suspicious_) {
    ++jumps_;
    log_error("clock", name_ + " has jumped, and is not followed for now",
              {{"seconds", seconds_of(jump)}, {"believed_after_seconds", seconds_of(rules_.believed_after.count())}});
  }
  if (!is_suspicious_ || !are_near(seen.offset(), suspected_)) suspect(seen);
  if (seen.at - suspected_since_ < rules_.believed_after) return from_epoch_milliseconds(trusted_ + seen.at.count());
  log_warning("clock", name_ + " has stayed where it jumped to, and is believed", {{"seconds", seconds_of(jump)}});
  is_suspicious_ = false;
  trusted_ = seen.offset();
  return seen.wall;
}

void PlausibleClock::append_metrics(std::string& out, const std::string& prefix) const {
  static_cast<void>(now());  // it may be the first to look for a while
  append_metric(out, prefix + "_jumps_total", "counter", "How often " + name_ + " was set, or went wrong.",
                std::to_string(jumps_.load()));
  append_metric(out, prefix + "_suspicious", "gauge", "1 while " + name_ + " says something that is not believed.",
                is_suspicious_ || is_doubtful() ? "1" : "0");
}

void AgeWatch::look() {
  const Milliseconds passed = clock_.monotonic();
  const TimePoint now = clock_.now();
  if (!seen_) seen_ = now;
  const TimePoint expected = *seen_ + (passed - seen_at_.value_or(passed));
  if (now - expected > notable_clock_gap) {
    wait_until_ = passed + deletion_waits;
    if (!part_.empty())
      log_warning(part_, "nothing expires for an hour, because of a gap in the time",
                  {{"now", format_timestamp(now)}, {"last_seen", format_timestamp(expected)}});
  }
  seen_ = now;
  seen_at_ = passed;
  is_trusted_ = passed >= wait_until_;
}

std::optional<TimePoint> AgeWatch::to_note() const {
  if (!is_trusted_ || (noted_at_ && *seen_at_ - *noted_at_ < noted_every)) return std::nullopt;
  return seen_;
}

}  // namespace postino::base
