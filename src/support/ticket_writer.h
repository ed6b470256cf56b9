// Changes a ticket: reads it, lets the caller decide, and writes ticket, event, the items by which it is found, and an
// e-mail, all in one commit. As long as others change the ticket meanwhile, it reads and decides again.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "outbox/mailer.h"
#include "outbox/outbox.h"
#include "store/transaction.h"
#include "support/actor.h"
#include "support/record/ticket_event.h"
#include "support/ticket_store.h"

namespace postino::support {

// What is to be written.
struct TicketChange {
  StoredTicket after;                              // with the version that it is to have
  TicketEvent event;                               // its place and id are given to it
  std::vector<store::TransactAction> beside = {};  // with conditions of their own
  std::optional<outbox::Payload> email = std::nullopt;
  // Of an actor with note_answer: the action that writes down what the answer tells of. The event has its place by
  // then.
  std::function<store::TransactAction(const TicketEvent& event)> note = {};

  void note_answer(const Actor& actor, const std::string& told_of) {
    if (actor.note_answer) note = [actor, told_of](const TicketEvent&) { return actor.note_answer(told_of); };
  }
};

class TicketWriter {
 public:
  TicketWriter(TicketStore& store, outbox::Mailer& mail) : store_(store), mail_(mail) {}

  // `failed` are the places in `beside` whose conditions did not hold at the last attempt. A refusal ends it.
  using Decide =
      std::function<Answer<TicketChange>(const StoredTicket& stored, const std::vector<std::size_t>& failed)>;
  // The ticket afterwards. unknown_ticket as TicketStore::find() says.
  Answer<StoredTicket> change(const std::string& ticket_id, const Scope& scope, const Decide& decide);

  // The actions for a new ticket, in the first places, and the rest of the change.
  std::vector<store::TransactAction> creation(const Keys& keys, TicketChange& change);
  // Writes actions, and the e-mail with them if there is one. With conditions that failed: busy. The e-mail is one of
  // the desk, and enters the outbox as such: a caller that is bound to a customer acts on tickets, and has no right to
  // e-mails.
  Answer<void> write(std::vector<store::TransactAction> actions, const std::optional<outbox::Payload>& email,
                     const std::string& tenant, std::vector<std::size_t>& failed);
  // The same for items of which a part is in the object store. The outbox's commits go past it, so that the e-mail
  // follows the commit: from here, and after a crash from Handovers.
  Answer<void> write_large(std::vector<store::TransactAction> actions, const std::optional<outbox::Payload>& email,
                           const std::string& tenant, std::vector<std::size_t>& failed);

  // Completes the item of another program, on condition that nothing has changed. False when something has.
  Answer<bool> complete(const Keys& keys, const StoredTicket& stored);

 private:
  struct Attempt;
  Answer<bool> try_once(Attempt& attempt, const Decide& decide);
  // The last number of a day that is taken.
  Answer<EventPlace> last_taken(const Keys& keys, const std::string& ticket_id, const std::string& date);
  std::vector<store::TransactAction> filing_actions(const Keys& keys, const std::optional<Filed>& before,
                                                    const Ticket& ticket) const;
  store::TransactUpdate update(const Keys& keys, const StoredTicket& before, const StoredTicket& after) const;
  // The same for a ticket with attributes in the object store, which no update reaches: `moved` are their names. On
  // condition that all others are as they were read.
  store::TransactPut replacement(const Keys& keys, const StoredTicket& before, const StoredTicket& after,
                                 const std::vector<std::string>& moved) const;

  TicketStore& store_;
  outbox::Mailer& mail_;
};

}  // namespace postino::support
