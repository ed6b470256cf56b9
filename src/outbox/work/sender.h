// Sending: one attempt at an e-mail that is ready.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/shutdown_deadline.h"
#include "outbox/ledger/ledger.h"
#include "outbox/ledger/message_memory.h"
#include "outbox/ledger/missing_contents.h"
#include "outbox/ledger/suppressions.h"
#include "outbox/transport/transport.h"
#include "outbox/work/destinations.h"
#include "outbox/work/fresh_messages.h"
#include "outbox/work/leases.h"

namespace postino::outbox {

// Asked before each attempt, when a worker has the e-mail: why it must not be sent now; nothing: it may. A service that
// does not want it sent writes so first, and then looks whether a worker has it: so one of the two sees the other.
using Objection = std::function<std::optional<std::string>(const Email& email)>;

class Sender {
 public:
  // `envelope_sender` gets the bounces; empty: the sender of each e-mail. Messages that are in `fresh` are not read
  // from the spool. The shutdown deadline is that of the transport. Without an objection every e-mail may be sent.
  // Everything given must outlive it.
  Sender(Ledger& ledger, SuppressionList& suppressions, Transport& transport, const Policy& policy,
         const base::Clock& clock, std::string envelope_sender, FreshMessages* fresh = nullptr,
         const net::ShutdownDeadline* shutdown_deadline = nullptr, Objection objection = {},
         MissingContents* missing = nullptr)
      : ledger_(ledger),
        suppressions_(suppressions),
        transport_(transport),
        policy_(policy),
        clock_(clock),
        envelope_sender_(std::move(envelope_sender)),
        fresh_(fresh),
        shutdown_deadline_(shutdown_deadline),
        objection_(std::move(objection)),
        missing_(missing) {}

  // SendingAttempted, SendingPostponed, MessageLost or GivenBack; nothing, and nothing has happened, when it must wait
  // for room. The room is taken before the message is read. Safe to call from any thread.
  std::optional<Event> work(const Email& email, const Leases& leases, MessageRoom& room) const;

 private:
  std::optional<Event> send(const Email& email, std::vector<Suppression> suppressed,
                            std::vector<std::string> recipients, const Leases& leases, MessageRoom& room) const;
  std::optional<Event> without_recipients(const Email& email, MessageRoom& room) const;
  base::Result<std::string> message_of(const Email& email, MessageRoom& room) const;
  // Before the end of the message goes out: has this process still the lease, and is it on record that it may be sent?
  base::Result<void> commit_to(const Email& email, const Leases& leases) const;

  Ledger& ledger_;
  SuppressionList& suppressions_;
  Transport& transport_;
  const Policy& policy_;
  const base::Clock& clock_;
  const std::string envelope_sender_;
  FreshMessages* const fresh_;                            // may be null
  const net::ShutdownDeadline* const shutdown_deadline_;  // may be null
  const Objection objection_;                             // may be empty
  MissingContents* const missing_;                        // may be null
};

// The domains that are still to get it.
DestinationNames domains_of(const Email& email);
// Domains that have said when to come again, and how long that is.
std::vector<std::pair<std::string, base::Milliseconds>> pauses_asked_for(const smtp::SendResult& result);

}  // namespace postino::outbox
