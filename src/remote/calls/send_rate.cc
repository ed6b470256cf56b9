#include "remote/calls/send_rate.h"

#include <algorithm>
#include <cmath>

namespace postino::remote {

namespace {

constexpr double kept_part = 0.7;   // of the rate that was too much
constexpr double growth = 0.4;      // how steep it becomes
constexpr double least_rate = 0.5;  // calls a second
constexpr double few = 5;           // calls a second: who sends less is taken for one who sends as many
constexpr double smoothing = 0.8;   // what the latest measurement counts
constexpr base::Milliseconds measured_span{500};

double in_seconds(base::Milliseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

void SendRate::measure(base::Milliseconds now) {
  ++counted_;
  if (!counted_since_) counted_since_ = now;
  const base::Milliseconds span = now - *counted_since_;
  if (span < measured_span) return;
  measured_ = smoothing * (counted_ / in_seconds(span)) + (1 - smoothing) * measured_;
  counted_ = 0;
  counted_since_ = now;
}

void SendRate::refill(base::Milliseconds now) {
  turns_ = std::min(turns_ + in_seconds(now - filled_at_) * *limit_, std::max(*limit_, 1.0));
  filled_at_ = now;
}

void SendRate::set_limit(double calculated) {
  limit_ = std::max(std::min(calculated, 2 * std::max(measured_, few)), least_rate);
  turns_ = std::min(turns_, std::max(*limit_, 1.0));
}

base::Milliseconds SendRate::take(base::Milliseconds now) {
  if (limit_ && now - throttled_at_ > forgotten_after) limit_.reset();
  if (!limit_) return base::Milliseconds(0);
  refill(now);
  turns_ -= 1;
  if (turns_ >= 0) return base::Milliseconds(0);
  return base::Milliseconds(static_cast<std::int64_t>(std::ceil(-turns_ / *limit_ * 1'000)));
}

void SendRate::give_back() {
  if (limit_) turns_ += 1;
}

void SendRate::succeeds(base::Milliseconds now) {
  measure(now);
  if (!limit_) return;
  refill(now);
  const double from_highest = in_seconds(now - throttled_at_) - seconds_to_highest_;
  set_limit(growth * from_highest * from_highest * from_highest + highest_);
}

void SendRate::is_throttled(base::Milliseconds now) {
  measure(now);
  const bool is_first = !limit_;
  if (!is_first) refill(now);
  highest_ = std::max(measured_, few);
  if (!is_first) highest_ = std::min(highest_, *limit_);
  seconds_to_highest_ = std::cbrt(highest_ * (1 - kept_part) / growth);
  throttled_at_ = now;
  if (is_first) {
    turns_ = 0;
    filled_at_ = now;
  }
  set_limit(highest_ * kept_part);
}

SendRate& SendRates::of(const std::string& table) {
  if (const auto found = rates_.find(table); found != rates_.end()) return found->second;
  return rates_.size() < most_tables ? rates_[table] : shared_;
}

base::Milliseconds SendRates::take(const std::string& table, base::Milliseconds now) {
  const std::lock_guard lock(mutex_);
  return of(table).take(now);
}

void SendRates::give_back(const std::string& table) {
  const std::lock_guard lock(mutex_);
  of(table).give_back();
}

void SendRates::succeeds(const std::string& table, base::Milliseconds now) {
  const std::lock_guard lock(mutex_);
  of(table).succeeds(now);
}

void SendRates::is_throttled(const std::string& table, base::Milliseconds now) {
  const std::lock_guard lock(mutex_);
  of(table).is_throttled(now);
}

}  // namespace postino::remote
