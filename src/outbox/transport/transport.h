// How messages leave: over SMTP, or into the sandbox.
#pragma once

#include <string_view>

#include "mail/smtp_client.h"
#include "outbox/email/email.h"

namespace postino::outbox {

struct Delivery {
  const Email& email;
  mail::Envelope envelope;
  std::string_view message;
};

// Safe to call from any thread; takes as long as it takes.
class Transport {
 public:
  virtual ~Transport() = default;

  // `before_end` is called before the point of no return, where there is one.
  virtual mail::SendResult deliver(const Delivery& delivery, const mail::SmtpSession::BeforeEnd& before_end) = 0;
};

}  // namespace postino::outbox
