// What callers that are bound to a customer see of the customer's own tickets. Decided here alone: what agents and
// engineers write among themselves is not for customers.
#pragma once

#include <optional>

#include "support/attachments.h"
#include "support/record/ticket.h"
#include "support/record/ticket_email.h"
#include "support/record/ticket_event.h"
#include "support/scope.h"

namespace postino::support {

// Without the engineer, the reasons of moves, and what other programs keep in `data`.
Ticket shown_to(const Scope& scope, Ticket ticket);

// Nothing when it is internal: a note, unless its details say `public`, and lines about e-mails, which have a list of
// their own. Otherwise without the name of who did it, and with the details that customers may know.
std::optional<TicketEvent> shown_to(const Scope& scope, TicketEvent event);

// Nothing when the customer has neither written nor got it. Otherwise without the name of who sent it.
std::optional<TicketEmail> shown_to(const Scope& scope, TicketEmail email, const Ticket& ticket);

// Without the name of who brought it.
KeptAttachment shown_to(const Scope& scope, KeptAttachment kept);

// Sent to the customer's contact address, received from there, or brought by a caller that is bound to the customer.
bool is_with_customer(const TicketEmail& email, const Ticket& ticket);

}  // namespace postino::support
