#include "access/quota_meter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/timestamp.h"

namespace postino::access {

namespace {

constexpr std::int64_t seconds_of_a_day = 86'400;

std::int64_t seconds_left(base::TimePoint now) {
  return std::chrono::ceil<std::chrono::seconds>(base::end_of_day(now) - now).count();
}

}  // namespace

void QuotaMeter::set_quota(const Quota& quota) {
  const std::lock_guard lock(mutex_);
  quota_ = quota;
}

Quota QuotaMeter::quota() const {
  const std::lock_guard lock(mutex_);
  return quota_;
}

void QuotaMeter::fill(base::Milliseconds monotonic) {
  const auto most = static_cast<double>(quota_.requests_per_second);
  const double seconds = std::chrono::duration<double>(monotonic - filled_at_).count();
  tokens_ = tokens_ < 0 ? most : std::min(most, tokens_ + std::max(0.0, seconds) * most);
  filled_at_ = monotonic;
}

std::optional<QuotaState> QuotaMeter::take_request(base::Milliseconds monotonic) {
  const std::lock_guard lock(mutex_);
  ++requests_;
  if (quota_.requests_per_second == 0) return std::nullopt;
  fill(monotonic);
  if (tokens_ >= 1) {
    tokens_ -= 1;
    return std::nullopt;
  }
  ++refused_;
  return QuotaState{requests_quota, quota_.requests_per_second, 1, 0, 1};
}

// Of another day nothing is left to count: what was not written of it is lost, which is less than a minute.
void QuotaMeter::begin_day(base::TimePoint now) {
  std::string day = base::format_day(now);
  if (day == day_) return;
  day_ = std::move(day);
  written_ = being_written_ = unwritten_ = 0;
}

std::optional<QuotaState> QuotaMeter::take_emails(base::TimePoint now, std::int64_t count) {
  const std::lock_guard lock(mutex_);
  begin_day(now);
  if (quota_.emails_per_day == 0 || emails_today() + count <= quota_.emails_per_day) {
    unwritten_ += count;
    return std::nullopt;
  }
  ++refused_;
  return QuotaState{emails_quota, quota_.emails_per_day, seconds_of_a_day,
                    std::max<std::int64_t>(0, quota_.emails_per_day - emails_today()), seconds_left(now)};
}

void QuotaMeter::give_back_emails(base::TimePoint now, std::int64_t count) {
  const std::lock_guard lock(mutex_);
  begin_day(now);
  unwritten_ -= count;
}

std::vector<QuotaState> QuotaMeter::states(base::TimePoint now, base::Milliseconds monotonic) {
  const std::lock_guard lock(mutex_);
  std::vector<QuotaState> states;
  if (quota_.requests_per_second > 0) {
    fill(monotonic);
    states.push_back(
        {requests_quota, quota_.requests_per_second, 1, static_cast<std::int64_t>(std::floor(tokens_)), 1});
  }
  if (quota_.emails_per_day > 0) {
    begin_day(now);
    states.push_back({emails_quota, quota_.emails_per_day, seconds_of_a_day,
                      std::max<std::int64_t>(0, quota_.emails_per_day - emails_today()), seconds_left(now)});
  }
  return states;
}

std::optional<QuotaMeter::Day> QuotaMeter::take_unwritten() {
  const std::lock_guard lock(mutex_);
  if (unwritten_ == 0 || quota_.emails_per_day == 0) return std::nullopt;
  being_written_ = std::exchange(unwritten_, 0);
  return Day{day_, being_written_};
}

void QuotaMeter::give_back_unwritten(const Day& day) {
  const std::lock_guard lock(mutex_);
  if (day.day != day_) return;
  being_written_ = 0;
  unwritten_ += day.emails;
}

void QuotaMeter::note_written(const Day& total) {
  const std::lock_guard lock(mutex_);
  if (day_.empty()) day_ = total.day;
  if (total.day != day_) return;
  being_written_ = 0;
  written_ = total.emails;
}

QuotaMeter::Counts QuotaMeter::counts(base::TimePoint now) {
  const std::lock_guard lock(mutex_);
  begin_day(now);
  return {requests_, refused_, emails_today()};
}

std::optional<QuotaState> take_request(const QuotaMeters& meters, base::Milliseconds monotonic) {
  for (const auto& meter : meters)
    if (auto refused = meter->take_request(monotonic)) return refused;
  return std::nullopt;
}

std::optional<QuotaState> take_emails(const QuotaMeters& meters, base::TimePoint now, std::int64_t count) {
  for (auto meter = meters.begin(); meter != meters.end(); ++meter) {
    const auto refused = (*meter)->take_emails(now, count);
    if (!refused) continue;
    for (auto taken = meters.begin(); taken != meter; ++taken) (*taken)->give_back_emails(now, count);
    return refused;
  }
  return std::nullopt;
}

void give_back_emails(const QuotaMeters& meters, base::TimePoint now, std::int64_t count) {
  for (const auto& meter : meters) meter->give_back_emails(now, count);
}

}  // namespace postino::access
