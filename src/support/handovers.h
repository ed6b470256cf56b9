// Brings e-mails of tickets to an outbox that shares no commits with the tickets' store: one look finds all that wait.
// An e-mail that the outbox has already is not given to it again.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "net/trouble.h"
#include "support/mail_room.h"
#include "support/record/handover.h"
#include "support/ticket_store.h"

namespace postino::support {

class Handovers {
 public:
  Handovers(TicketStore& store, MailRoom& mail) : store_(store), mail_(mail) {}

  // How many were handed over. One that cannot be now waits, and keeps no other back; the answer is its error if none
  // could. While the outbox is away a run gives up after a few, and the next one goes on behind them; the log tells
  // when that begins and when it is over. An outbox that shares commits is handed little: records are looked for at
  // first, and when one may have been written (TicketStore::expect_handovers()). To be called by one thread at a time.
  Answer<int> run_once(int limit = 100);

 private:
  Answer<int> run(int limit);
  // From where the last run gave up, or from the beginning.
  struct Position {
    int shard = 0;
    std::optional<item::Key> after;
  };
  Answer<void> hand_over(const item::Item& item);

  TicketStore& store_;
  MailRoom& mail_;
  Position position_;
  net::LastingTrouble away_;    // with the outbox or the store as a whole
  bool has_seen_all_ = false;   // the last run has left nothing behind
  std::set<std::string> told_;  // records that the log tells of
};

}  // namespace postino::support
