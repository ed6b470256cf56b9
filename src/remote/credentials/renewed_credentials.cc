#include "remote/credentials/renewed_credentials.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace postino::remote {

RenewedCredentials::RenewedCredentials(std::unique_ptr<CredentialSource> source, const base::Clock& clock,
                                       base::Random& random, RenewalRules rules)
    : source_(std::move(source)), clock_(clock), random_(random), rules_(rules) {}

bool RenewedCredentials::is_usable(base::Milliseconds now) const {
  return held_ && (!held_->expires || now < *held_->expires || source_->outlives_expiry());
}

bool RenewedCredentials::is_due(base::Milliseconds now) const {
  if (!held_ || (held_->renew_at && now >= *held_->renew_at)) return true;
  return is_refused_ && (!asked_at_ || now >= *asked_at_ + rules_.least_pause);
}

base::Result<signature::AccessKeys> RenewedCredentials::keys() {
  const auto patience = std::chrono::steady_clock::now() + rules_.longest_wait;
  std::unique_lock lock(mutex_);
  while (true) {
    const base::Milliseconds now = clock_.monotonic();
    const bool is_left_alone = leave_alone_until_ && now < *leave_alone_until_;
    if (is_usable(now) && (!is_due(now) || is_renewing_ || is_left_alone)) return held_->keys;
    if (is_renewing_) {
      if (!renewed_.wait_until(lock, patience, [&] { return !is_renewing_; }))
        return base::fail(base::ErrorCode::exhausted, "the source of access keys takes too long");
      continue;
    }
    if (is_left_alone) return base::propagate(failure_);
    renew(lock);
  }
}

void RenewedCredentials::refused() {
  const std::lock_guard lock(mutex_);
  is_refused_ = true;
}

void RenewedCredentials::renew(std::unique_lock<std::mutex>& lock) {
  is_renewing_ = true;
  is_refused_ = false;
  lock.unlock();
  auto fetched = source_->fetch();
  lock.lock();
  const base::Milliseconds now = clock_.monotonic();
  is_renewing_ = false;
  asked_at_ = now;
  if (!fetched)
    note_failure(std::move(fetched).error(), now);
  else if (!*fetched)
    note_failure(
        {base::ErrorCode::not_found,
         "no access keys were found. There are none in the settings, and these have none: " + source_->describe()},
        now);
  else
    take(**std::move(fetched), now);
  renewed_.notify_all();
}

void RenewedCredentials::take(ExpiringKeys fetched, base::Milliseconds now) {
  failures_ = 0;
  leave_alone_until_.reset();
  Held held{std::move(fetched.keys), std::nullopt, std::nullopt};
  if (fetched.expires) {
    const base::Milliseconds left = *fetched.expires - clock_.now();
    if (left > base::Milliseconds(0)) held.expires = now + left;
    held.renew_at = now + std::max(left - std::min(rules_.before_expiry, left / 2), rules_.least_pause);
    if (left <= base::Milliseconds(0) && source_->outlives_expiry()) held.renew_at = now + rules_.beyond_expiry;
  }
  held_ = std::move(held);
  if (trouble_.works()) base::log_info("remote", "there are access keys again", {{"source", source_->describe()}});
}

void RenewedCredentials::note_failure(base::Error error, base::Milliseconds now) {
  failure_ = std::move(error);
  ++failures_;
  base::Milliseconds pause = rules_.after_failure.equal_jitter(failures_, random_);
  if (held_ && held_->expires && now >= *held_->expires && is_usable(now))
    pause = rules_.beyond_expiry + base::Milliseconds(static_cast<std::int64_t>(
                                       random_.next() % static_cast<std::uint64_t>(rules_.beyond_expiry.count() + 1)));
  leave_alone_until_ = now + pause;
  if (trouble_.fails(failure_.message))
    base::log_warning("remote", "access keys could not be had", {{"cause", failure_.message}});
}

}  // namespace postino::remote
