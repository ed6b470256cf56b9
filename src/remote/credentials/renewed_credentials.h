// Access keys that are renewed before they expire.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/backoff.h"
#include "base/random.h"
#include "net/trouble.h"
#include "remote/credentials/credential_source.h"

namespace postino::remote {

struct RenewalRules {
  base::Milliseconds before_expiry{std::chrono::minutes(5)};  // or half of the time that they have left, if less
  base::Milliseconds least_pause{10'000};                     // between two questions that the service's refusals make
  base::Backoff after_failure{std::chrono::seconds(2), std::chrono::seconds(60)};
  // Between two attempts to renew keys that are used beyond their time: so much, and up to so much more.
  base::Milliseconds beyond_expiry{std::chrono::minutes(5)};
  std::chrono::milliseconds longest_wait{60'000};  // of a caller for another one who asks the source
};

// One caller at a time asks the source. Meanwhile others get the keys that are there, if they still count; otherwise
// they wait. If the source fails, the old keys are used for as long as they count, and it is left alone for a while.
// What passes between two moments is measured by a clock that cannot be set. Keys that are over when they come are
// used all the same, because our clock may be wrong, and the service knows better.
class RenewedCredentials final : public Credentials {
 public:
  // `clock` and `random` must outlive it. Does not ask the source yet.
  RenewedCredentials(std::unique_ptr<CredentialSource> source, const base::Clock& clock, base::Random& random,
                     RenewalRules rules = {});

  base::Result<signature::AccessKeys> keys() override;
  void refused() override;
  std::string describe() const override { return source_->describe(); }

 private:
  struct Held {
    signature::AccessKeys keys;
    std::optional<base::Milliseconds> expires;  // in monotonic time, as all of these
    std::optional<base::Milliseconds> renew_at;
  };

  bool is_usable(base::Milliseconds now) const;
  bool is_due(base::Milliseconds now) const;
  void renew(std::unique_lock<std::mutex>& lock);
  void take(ExpiringKeys fetched, base::Milliseconds now);
  void note_failure(base::Error error, base::Milliseconds now);

  const std::unique_ptr<CredentialSource> source_;
  const base::Clock& clock_;
  base::Random& random_;
  const RenewalRules rules_;

  std::mutex mutex_;
  std::condition_variable renewed_;
  std::optional<Held> held_;
  bool is_renewing_ = false;
  bool is_refused_ = false;
  std::optional<base::Milliseconds> asked_at_;
  std::optional<base::Milliseconds> leave_alone_until_;
  int failures_ = 0;
  base::Error failure_;
  net::LastingTrouble trouble_;
};

}  // namespace postino::remote
