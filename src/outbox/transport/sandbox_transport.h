// Delivers into the sandbox's mailbox. A message that is delivered again is there once, so no outcome is ever unknown.
#pragma once

#include "outbox/transport/sandbox_mailbox.h"
#include "outbox/transport/transport.h"

namespace postino::outbox {

class SandboxTransport final : public Transport {
 public:
  SandboxTransport(SandboxMailbox& mailbox, const base::Clock& clock, base::Milliseconds keep)
      : mailbox_(mailbox), clock_(clock), keep_(keep) {}

  smtp::SendResult deliver(const Delivery& delivery, const smtp::Session::BeforeEnd& before_end) override;

 private:
  SandboxMailbox& mailbox_;
  const base::Clock& clock_;
  const base::Milliseconds keep_;
};

}  // namespace postino::outbox
