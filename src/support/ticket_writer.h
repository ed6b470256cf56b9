// Changes a ticket: reads it, lets the caller decide, and writes ticket, event, the items by which it is found, and an
// e-mail, all in one commit. As long as others change the ticket meanwhile, it reads and decides again.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
      std::function<OrRefusal<TicketChange>(const StoredTicket& stored, const std::vector<std::size_t>& failed)>;
  // The ticket afterwards. unknown_ticket as TicketStore::find() says.
  OrRefusal<StoredTicket> change(const std::string& ticket_id, const Scope& scope, const Decide& decide);

  // The actions for a new ticket, in the first places, and the rest of the change.
  std::vector<store::TransactAction> creation(const Keys& keys, TicketChange& change);
  // Writes actions, and the e-mail with them if there is one. With conditions that failed: busy. The e-mail is one of
  // the desk, and enters the outbox as such: a caller that is bound to a customer acts on tickets, and has no right to
  // e-mails.
  OrRefusal<void> write(std::vector<store::TransactAction> actions, const std::optional<outbox::Payload>& email,
                        const std::string& tenant, std::vector<std::size_t>& failed);
  // The same for items that are too large for the store without the object store. The outbox's commits go past it, so
  // that the e-mail follows the commit: from here, and after a crash from Handovers.
  OrRefusal<void> write_large(std::vector<store::TransactAction> actions, const std::optional<outbox::Payload>& email,
                              const std::string& tenant, std::vector<std::size_t>& failed);

  // Completes the item of another program, on condition that nothing has changed. False when something has.
  OrRefusal<bool> complete(const Keys& keys, const StoredTicket& stored);
  // The same of any item, on condition that these attributes of it are as they were read. With the actions beside it.
  OrRefusal<bool> complete(const item::Item& before, const item::Item& after,
                           std::span<const std::string_view> unchanged, std::vector<store::TransactAction> beside = {});

 private:
  struct Attempt;
  OrRefusal<bool> try_once(Attempt& attempt, const Decide& decide);
  // The last number of a day that is taken.
  OrRefusal<EventPlace> last_taken(const Keys& keys, const std::string& ticket_id, const std::string& date);
  std::vector<store::TransactAction> filing_actions(const Keys& keys, const std::optional<Filed>& before,
                                                    const Ticket& ticket) const;
  // On condition that these attributes are as they were read.
  store::TransactUpdate update(const item::Item& before, const item::Item& after,
                               std::span<const std::string_view> unchanged) const;
  // The same for an item that no update can make: attributes of it are in the object store, `moved` are their names, or
  // it is too large without the object store. On condition that all others are as they were read.
  store::TransactPut replacement(const item::Item& before, item::Item after,
                                 std::span<const std::string_view> unchanged,
                                 const std::vector<std::string>& moved) const;

  TicketStore& store_;
  outbox::Mailer& mail_;
};

}  // namespace postino::support
