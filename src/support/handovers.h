// Brings e-mails of tickets to an outbox that shares no commits with the tickets' store: one look finds all that wait.
// An e-mail that the outbox has already is not given to it again.
#pragma once

#include "support/mail_room.h"
#include "support/record/handover.h"
#include "support/ticket_store.h"

namespace postino::support {

class Handovers {
 public:
  Handovers(TicketStore& store, MailRoom& mail) : store_(store), mail_(mail) {}

  // How many were handed over. One that cannot be now waits, and keeps no other back; the answer is its error if none
  // could.
  Answer<int> run_once(int limit = 100);

 private:
  Answer<void> hand_over(const item::Item& item);

  TicketStore& store_;
  MailRoom& mail_;
};

}  // namespace postino::support
