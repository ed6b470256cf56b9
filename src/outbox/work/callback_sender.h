// Callbacks: tells the caller of an e-mail what became of it.
#pragma once

#include "http/client.h"
#include "outbox/email/event.h"
#include "outbox/email/policy.h"
#include "outbox/transport/webhook.h"
#include "outbox/work/destinations.h"

namespace postino::outbox {

struct CallbackSenderOptions {
  base::Milliseconds timeout{10'000};
  bool allow_private_addresses =
      false;                     // of URLs that came with an e-mail; the configured one is the operator's choice
  std::string certificate_file;  // authorities to trust; empty: those of the system
  std::shared_ptr<const net::ShutdownDeadline> shutdown_deadline;  // no callback outlasts it; may be null
};

class CallbackSender {
 public:
  // The policy and the clock must outlive it.
  static base::Result<std::unique_ptr<CallbackSender>> create(const Policy& policy, const base::Clock& clock,
                                                              WebhookSigner signer, CallbackSenderOptions options);

  // CallbackAcknowledged, CallbackFailed, or GivenBack when the shutdown deadline has broken it off. Safe to call from
  // any thread.
  Event work(const Email& email) const;

 private:
  CallbackSender(const Policy& policy, const base::Clock& clock, WebhookSigner signer, CallbackSenderOptions options)
      : policy_(policy), clock_(clock), signer_(std::move(signer)), options_(std::move(options)) {}

  const Policy& policy_;
  const base::Clock& clock_;
  const WebhookSigner signer_;
  const CallbackSenderOptions options_;
  std::unique_ptr<http::Client> trusting_;  // for the configured URL
  std::unique_ptr<http::Client> guarded_;   // for all others
};

// The host and port that is called; none when the URL cannot be one.
DestinationNames callback_host_of(const Email& email, const Policy& policy);

// What a Retry-After header asks for: seconds, or a date.
std::optional<base::Milliseconds> parse_retry_after(std::string_view text, base::TimePoint now);

}  // namespace postino::outbox
