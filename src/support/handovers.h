// Brings e-mails of tickets to an outbox that shares no commits with the tickets' store: one look finds all that wait.
// An e-mail that the outbox has already is not given to it again.
#pragma once

#include <optional>

#include "base/clock.h"
#include "net/trouble.h"
#include "outbox/handover_walk.h"
#include "outbox/mailer.h"
#include "support/record/handover.h"
#include "support/ticket_store.h"

namespace postino::support {

class Handovers {
 public:
  Handovers(TicketStore& store, outbox::Mailer& mail) : store_(store), mail_(mail) {}

  // How many were handed over, as HandoverWalk::run() says. The log tells when an outbox is away, and when that is
  // over. An outbox that shares commits is handed little: records are looked for at first, and when one may have been
  // written (TicketStore::expect_handovers()). Where the store is shared they are looked for now and then, too: another
  // process may have written them, and have ended. To be called by one thread at a time.
  OrRefusal<int> run_once(int limit = 100);

 private:
  using Walk = outbox::HandoverWalk<Refusal>;

  bool may_wait();
  Walk::Steps steps();
  OrRefusal<void> hand_over(const item::Item& item);

  TicketStore& store_;
  outbox::Mailer& mail_;
  Walk walk_;
  net::LastingTrouble away_;                  // with the outbox or the store as a whole
  std::optional<base::Milliseconds> looked_;  // when it was last looked for records; monotonic
};

}  // namespace postino::support
