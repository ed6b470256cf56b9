#include "support/record/ticket.h"

namespace postino::support {

base::Result<Ticket> moved(Ticket ticket, const Move& move, base::TimePoint now) {
  if (!may_move(ticket.status, move.to))
    return base::fail(base::ErrorCode::conflict, "the ticket " + ticket.id + " is " +
                                                     std::string(name_of(ticket.status)) + " and cannot become " +
                                                     std::string(name_of(move.to)));
  ticket.status = move.to;
  ticket.status_reason = move.reason;
  ticket.updated_at = now;
  ticket.completed_at = move.to == TicketStatus::ready ? std::optional(now) : std::nullopt;
  ticket.escalation = move.to == TicketStatus::escalated
                          ? std::optional(Escalation{.at = now, .engineer = move.engineer, .reason = move.reason})
                          : std::nullopt;
  ++ticket.version;
  return ticket;
}

}  // namespace postino::support
