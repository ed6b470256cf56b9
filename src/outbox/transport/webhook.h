// Callbacks as messages: their body, and the signature of Standard Webhooks over it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "outbox/email/email.h"

namespace postino::outbox {

// {code, reached_at, message_ids, reason}; partly_sent and recipients, if it was not sent to all of them; and tags, if
// it has any. The e-mail is in the working state of a callback.
std::string webhook_body(const Email& email);

// The same for every attempt at one outcome, so that a receiver knows what it has seen.
std::string webhook_id(const Email& email);

// Signs with HMAC-SHA-256.
class WebhookSigner {
 public:
  // "whsec_" and base64, of 24 to 64 bytes. Empty: nothing is signed.
  static base::Result<WebhookSigner> create(const std::string& secret);

  // webhook-id, webhook-timestamp and, with a secret, webhook-signature.
  std::vector<std::pair<std::string, std::string>> headers(const std::string& id, base::TimePoint now,
                                                           const std::string& body) const;

 private:
  explicit WebhookSigner(std::string key) : key_(std::move(key)) {}
  std::string key_;
};

}  // namespace postino::outbox
