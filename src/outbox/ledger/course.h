// How an e-mail goes on after a piece of work: pure functions from what was to what shall be.
#pragma once

#include <string>

#include "base/backoff.h"
#include "base/random.h"
#include "mail/smtp_client.h"
#include "outbox/ledger/ledger.h"

namespace postino::outbox {

enum class UnknownOutcomePolicy {
  resend,  // rather twice than never
  hold,    // an operator decides
};

struct RetryRules {
  base::Backoff sending{std::chrono::minutes(1), std::chrono::hours(4)};
  base::Milliseconds give_up_after = std::chrono::hours(48);  // from acceptance, or from the time it was scheduled for
  int max_attempts = 40;
  base::Backoff callback{std::chrono::seconds(5), std::chrono::hours(1)};
  int max_callback_attempts = 12;
  UnknownOutcomePolicy unknown_outcome = UnknownOutcomePolicy::resend;
  std::string default_callback_url;  // empty: e-mails without a URL of their own do not call back
};

// Everything below takes an e-mail in its working state; or one that waits, which then passes that state on its way.
class Course {
 public:
  Course(RetryRules rules, base::Random& random) : rules_(std::move(rules)), random_(random) {}

  const RetryRules& rules() const { return rules_; }

  Move built(const Email& email, std::string message, base::TimePoint now) const;
  Move invalid(const Email& email, std::string reason, base::TimePoint now) const;
  // The trouble is ours, not the e-mail's.
  Move intake_again(const Email& email, const std::string& reason, base::TimePoint now) const;

  Move after_sending(const Email& email, const mail::SendResult& result, base::TimePoint now) const;
  Move failed(const Email& email, std::string reason, bool internal, base::TimePoint now) const;
  // Back in the queue; the attempt counts unless nothing was tried.
  Move send_later(const Email& email, std::string reason, base::TimePoint due, bool tried) const;

  Move called_back(const Email& email, base::TimePoint now) const;
  // `after` is what the receiver asked for; `hopeless` failures are not tried again.
  Move callback_failed(const Email& email, std::string error, std::optional<base::Milliseconds> after, bool hopeless,
                       base::TimePoint now) const;

  Move rescued(const Email& email, base::TimePoint now) const;

  // Where to call, or empty.
  const std::string& callback_url(const Email& email) const;

 private:
  Move to(const Email& email, State state, std::string reason) const;
  Move settled(const Email& email, State state, std::string reason, base::TimePoint now) const;
  Move retry(const Email& email, const std::string& reason, base::TimePoint now) const;

  const RetryRules rules_;
  base::Random& random_;
};

}  // namespace postino::outbox
