// Sending: one attempt at an e-mail that is ready.
#pragma once

#include "outbox/ledger/course.h"
#include "outbox/ledger/spool.h"
#include "outbox/transport/transport.h"
#include "outbox/work/destination_limits.h"
#include "outbox/work/fresh_messages.h"
#include "outbox/work/leases.h"

namespace postino::outbox {

class Sender {
 public:
  // `envelope_sender` gets the bounces; empty: the sender of each e-mail. Messages that are in `fresh` are not read
  // from the spool.
  Sender(Ledger& ledger, Spool& spool, Transport& transport, DestinationLimits& limits, const Course& course,
         const base::Clock& clock, std::string envelope_sender, FreshMessages* fresh = nullptr)
      : ledger_(ledger),
        spool_(spool),
        transport_(transport),
        limits_(limits),
        course_(course),
        clock_(clock),
        envelope_sender_(std::move(envelope_sender)),
        fresh_(fresh) {}

  // Safe to call from any thread.
  Move work(const Email& email, const Leases& leases) const;

 private:
  Move send(const Email& email, const Leases& leases) const;
  base::Result<std::string> message_of(const Email& email) const;
  // Before the end of the message goes out: are we still the one to send it, and is it on record that we may have?
  base::Result<void> commit_to(const Email& email, const Leases& leases) const;

  Ledger& ledger_;
  Spool& spool_;
  Transport& transport_;
  DestinationLimits& limits_;
  const Course& course_;
  const base::Clock& clock_;
  const std::string envelope_sender_;
  FreshMessages* const fresh_;  // may be null
};

}  // namespace postino::outbox
