// Changes of tickets: their status, who takes care of them, and their priority.
#include "api/routes/route_groups.h"
#include "api/routes/ticket_json.h"
#include "api/routes/ticket_requests.h"

namespace postino::api {

namespace {

Reply changed_reply(support::SupportDesk& desk, const support::Ticket& ticket) {
  desk.wake();  // an e-mail may wait
  Reply reply = json_reply(thing_json(ticket));
  reply.told_of = ticket.id;
  return reply;
}

Outcome ticket_again(Call& call, const std::string& id) {
  TRY(auto* desk, desk_of(call));
  TRY(const support::Ticket ticket, answered(desk->tickets().get(id, ticket_actor(call))));
  return json_reply(thing_json(ticket));
}

Outcome move_ticket(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY(const MoveRequest request, read_move(call.request.body));
  TRY(const support::Ticket ticket, answered(desk->tickets().move(call.path_parameter("id"), request.move, request.seen,
                                                                  ticket_actor(call, request.by), request.letter)));
  return changed_reply(*desk, ticket);
}

Outcome escalate_ticket(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY(const MoveRequest request, read_escalation(call.request.body));
  TRY(const support::Ticket ticket,
      answered(desk->tickets().escalate(call.path_parameter("id"), request.move.engineer, request.move.reason,
                                        request.seen, ticket_actor(call, request.by), request.letter)));
  return changed_reply(*desk, ticket);
}

Outcome deescalate_ticket(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY(const MoveRequest request, read_deescalation(call.request.body));
  TRY(const support::Ticket ticket,
      answered(desk->tickets().deescalate(call.path_parameter("id"), request.move.reason, request.seen,
                                          ticket_actor(call, request.by), request.letter)));
  return changed_reply(*desk, ticket);
}

Outcome change_ticket_priority(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY(const PriorityRequest request, read_priority(call.request.body));
  TRY(const support::Ticket ticket,
      answered(desk->tickets().change_priority(call.path_parameter("id"), request.priority, request.seen,
                                               ticket_actor(call, request.by))));
  return changed_reply(*desk, ticket);
}

Operation ticket_change_operation(std::string_view id, std::string_view path, std::string_view summary,
                                  std::string_view description, std::string_view schema, bool required) {
  return {.id = id,
          .method = "POST",
          .path = path,
          .right = Right::work_on_tickets,
          .summary = summary,
          .description = description,
          .parameters = {ticket_id_parameter()},
          .body = {{{json_content_type, schema}}, required},
          .answers = {
              {200, "The ticket afterwards.", {{json_content_type, "Ticket"}}},
              {409,
               "The ticket has another version or status than the caller saw (OTHER_VERSION), or there is no such move "
               "(WRONG_TICKET_STATE), both with `current_version` and `current_status`; or no sender is configured "
               "(NO_SENDER); or a record cannot be read."}}};
}

}  // namespace

std::vector<Route> ticket_change_routes() {
  return with_ticket_answers({
      {.operation = ticket_change_operation(
           "moveTicket", "/tickets/{id}/status", "Move a ticket to another status",
           "From NEW to PROCESSING, from there to READY, FAILED or ESCALATED, and from FAILED and ESCALATED back to "
           "PROCESSING. READY is the end.",
           "TicketMove", true),
       .handle = move_ticket,
       .again = ticket_again},
      {.operation = ticket_change_operation("escalateTicket", "/tickets/{id}/escalate",
                                            "Escalate a ticket to an engineer", "", "TicketEscalation", true),
       .handle = escalate_ticket,
       .again = ticket_again},
      {.operation = ticket_change_operation(
           "deescalateTicket", "/tickets/{id}/deescalate", "Take an escalated ticket back into work",
           "It becomes PROCESSING, and leaves the lists of escalated tickets.", "TicketDeescalation", false),
       .handle = deescalate_ticket,
       .again = ticket_again},
      {.operation = ticket_change_operation("changeTicketPriority", "/tickets/{id}/priority",
                                            "Change the priority of a ticket", "", "TicketPriority", true),
       .handle = change_ticket_priority,
       .again = ticket_again},
  });
}

}  // namespace postino::api
