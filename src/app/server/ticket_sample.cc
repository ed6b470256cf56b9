#include "app/server/ticket_sample.h"

#include <ostream>

#include "base/timestamp.h"

namespace postino::app {

namespace {

constexpr const char* sample_customer = "sample_customer";

template <class T>
base::Result<T> plain_answer(support::OrRefusal<T> answer) {
  if (!answer) return base::fail(base::ErrorCode::io, "the sample ticket: " + answer.error().message);
  return *std::move(answer);
}

// The id of the sample. One that was made at an earlier start is found.
base::Result<std::string> sample_ticket(support::SupportDesk& desk, const support::Actor& actor) {
  support::TicketFilter filter;
  filter.customer_id = sample_customer;
  TRY(const support::Page<support::Ticket> found, plain_answer(desk.lists().find(filter, {}, actor)));
  if (!found.entries.empty()) return found.entries.front().id;
  support::NewTicket ticket;
  ticket.customer = {sample_customer, "Ann Example", "ann@example.org", "STANDARD"};
  ticket.asset = {"router", "RX-200", "SN-1", "1.2.3"};
  ticket.symptom_text = "The router restarts every ten minutes.";
  ticket.error_code = "E42";
  TRY(const support::Created created, plain_answer(desk.tickets().create(ticket, "", actor)));
  const std::string id = created.answer.ticket_id;
  using enum support::TicketStatus;
  for (const support::TicketStatus status : {processing, ready}) {
    const support::Move move{.to = status, .reason = status == ready ? "The cable was loose." : ""};
    TRY_VOID(plain_answer(desk.tickets().move(id, move, {}, actor)));
  }
  return id;
}

}  // namespace

base::Result<void> show_ticket_sample(support::SupportDesk& desk, std::ostream& out) {
  support::Actor actor;
  actor.name = "sample";
  TRY(const std::string id, sample_ticket(desk, actor));
  TRY(const support::Page<support::TicketEvent> events,
      plain_answer(desk.events().list(id, {.newest_first = false}, actor)));
  out << "A sample ticket was opened, worked on and closed (see it with: postino tickets show " << id << "):\n";
  for (const support::TicketEvent& event : events.entries) {
    out << "  " << base::format_timestamp(event.at) << "  " << event.type;
    if (!event.new_status.empty()) out << "  " << event.new_status;
    out << "\n";
  }
  return {};
}

}  // namespace postino::app
