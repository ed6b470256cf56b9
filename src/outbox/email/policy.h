// The rules that all e-mails follow. One object, made once from the settings.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>

#include "base/backoff.h"
#include "base/clock.h"
#include "outbox/email/email.h"

namespace postino::outbox {

// What becomes of an e-mail of which it is not known whether it was sent.
enum class UnknownOutcomePolicy {
  resend,  // rather twice than never
  hold,    // an operator decides
};

struct Policy {
  base::Milliseconds lease = std::chrono::seconds(30);  // of a claim, and of each renewal
  // When another program that works on an e-mail counts as gone: so long after its last change.
  base::Milliseconds foreign_lease = std::chrono::minutes(30);
  base::Milliseconds keep = std::chrono::hours(24 * 30);  // e-mails and their history, from kept_from() on

  base::Backoff sending_delay{std::chrono::minutes(1), std::chrono::hours(4)};
  int max_attempts = 40;
  base::Milliseconds give_up_after = std::chrono::hours(48);  // from tried_from() on
  UnknownOutcomePolicy unknown_outcome = UnknownOutcomePolicy::resend;
  int max_rescues = 3;  // in a row; then it may be the e-mail that ends its workers

  base::Backoff callback_delay{std::chrono::seconds(5), std::chrono::hours(1)};  // also of intake in times of trouble
  int max_callback_attempts = 12;
  std::string default_callback_url;  // empty: e-mails without a URL of their own do not call back
  bool private_callbacks = false;    // may an e-mail's own URL lead into a private network?
};

// What would be sent again anyway counts as perhaps sent from the claim on, which saves a commit for each e-mail.
// Otherwise the sender writes it down right before the end of the message.
inline bool unknown_from_claim(const Policy& policy) { return policy.unknown_outcome == UnknownOutcomePolicy::resend; }

// The URL to call back; empty when there is none.
inline const std::string& callback_url_of(const Email& email, const Policy& policy) {
  return email.callback_url.empty() ? policy.default_callback_url : email.callback_url;
}

// When it may be removed, if it is finished by then. Who looks for an e-mail that ended late has up to a
// day to find it.
inline base::TimePoint expiry_of(const Email& email, const Policy& policy) {
  const base::Milliseconds after_its_end = std::min<base::Milliseconds>(policy.keep, std::chrono::hours(24));
  const base::TimePoint usual = kept_from(email) + policy.keep;
  return is_finished(email) ? std::max(usual, email.updated_at + after_its_end) : usual;
}

}  // namespace postino::outbox
