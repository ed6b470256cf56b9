// Callbacks: tells the caller of an e-mail what became of it.
#pragma once

#include "net/http_client.h"
#include "outbox/email/event.h"
#include "outbox/email/policy.h"
#include "outbox/transport/webhook.h"

namespace postino::outbox {

struct CallerOptions {
  base::Milliseconds timeout{10'000};
  bool allow_private_addresses =
      false;                     // of URLs that came with an e-mail; the configured one is the operator's choice
  std::string certificate_file;  // authorities to trust; empty: those of the system
};

class Caller {
 public:
  // The policy and the clock must outlive it.
  static base::Result<std::unique_ptr<Caller>> create(const Policy& policy, const base::Clock& clock,
                                                      WebhookSigner signer, CallerOptions options);

  // CallbackAcknowledged or CallbackFailed. Safe to call from any thread.
  Event work(const Email& email) const;

 private:
  Caller(const Policy& policy, const base::Clock& clock, WebhookSigner signer, CallerOptions options)
      : policy_(policy), clock_(clock), signer_(std::move(signer)), options_(std::move(options)) {}

  const Policy& policy_;
  const base::Clock& clock_;
  const WebhookSigner signer_;
  const CallerOptions options_;
  std::unique_ptr<net::HttpClient> trusting_;  // for the configured URL
  std::unique_ptr<net::HttpClient> guarded_;   // for all others
};

// What a Retry-After header asks for: seconds, or a date.
std::optional<base::Milliseconds> parse_retry_after(std::string_view text, base::TimePoint now);

}  // namespace postino::outbox
