// What belongs to tickets: feedback, events, e-mails and customers' answers.
#include <algorithm>
#include <iterator>

#include "api/protocol/idempotency_headers.h"
#include "api/routes/route_groups.h"
#include "api/routes/ticket_json.h"
#include "api/routes/ticket_requests.h"

namespace postino::api {

namespace {

Outcome show_feedback(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY(const support::PageRequest page, ticket_page(call));
  TRY(const auto found, answered(desk->feedback().of_ticket(call.path_parameter("id"), page, ticket_actor(call))));
  return json_reply(feedback_of_ticket_json(found));
}

Outcome list_feedback(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY(const support::PageRequest page, ticket_page(call));
  if (call.text("operator_id").empty()) return refuse_field("operator_id", "is required");
  TRY(const auto found, answered(desk->feedback().by_operator(call.text("operator_id"), page, ticket_actor(call))));
  return json_reply(page_json(found));
}

Outcome add_feedback(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY(const support::NewFeedback feedback, read_feedback(call.request.body));
  TRY(const support::Feedback added,
      answered(desk->feedback().add(call.path_parameter("id"), feedback, ticket_actor(call))));
  Reply reply = json_reply(thing_json(added), 201);
  reply.told_of = added.submitted_text;
  return reply;
}

Outcome feedback_again(Call& call, const std::string& submitted_at) {
  TRY(auto* desk, desk_of(call));
  TRY(const support::Feedback feedback,
      answered(desk->feedback().find(call.path_parameter("id"), submitted_at, ticket_actor(call))));
  return json_reply(thing_json(feedback));
}

Outcome list_events(Call& call) {
  TRY(auto* desk, desk_of(call));
  support::EventsRequest request;
  request.from_date = call.text("since");
  request.to_date = call.text("until");
  const std::string order = call.text("order");
  if (!order.empty() && order != "newest" && order != "oldest")
    return refuse_field("order", "must be newest or oldest");
  request.newest_first = order != "oldest";
  TRY(request.page, ticket_page(call));
  TRY(const auto events, answered(desk->events().list(call.path_parameter("id"), request, ticket_actor(call))));
  return json_reply(page_json(events));
}

Outcome add_event(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY(const EventRequest request, read_event(call.request.body));
  TRY(const support::TicketEvent event, answered(desk->events().add(call.path_parameter("id"), request.type,
                                                                    request.details, ticket_actor(call, request.by))));
  Reply reply = json_reply(thing_json(event), 201);
  reply.told_of = support::event_name(event);
  return reply;
}

Outcome event_again(Call& call, const std::string& name) {
  TRY(auto* desk, desk_of(call));
  TRY(const support::TicketEvent event,
      answered(desk->events().find(call.path_parameter("id"), name, ticket_actor(call))));
  return json_reply(thing_json(event));
}

Outcome list_ticket_emails(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY(const support::PageRequest page, ticket_page(call));
  TRY(const auto emails, answered(desk->correspondence().list(call.path_parameter("id"), page, ticket_actor(call))));
  return json_reply(page_json(emails));
}

Reply email_reply(const support::TakenEmail& taken) {
  Reply reply = json_reply(thing_json(taken.email), 201);
  reply.told_of = taken.email.message_id;
  return taken.is_repeated ? replayed(std::move(reply)) : std::move(reply);
}

// The key of the request is that of the e-mail, too: so it is sent once even if the record of the key is lost.
Outcome send_ticket_email(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY(LetterRequest request, read_letter(call.request.body));
  TRY(const std::optional<IdempotencyHeaders> headers, read_idempotency_headers(call.request));
  if (headers) request.letter.key = owned_key(call.caller, headers->key);
  TRY(const support::TakenEmail taken,
      answered(desk->correspondence().send(call.path_parameter("id"), request.letter, ticket_actor(call, request.by))));
  desk->wake();
  return email_reply(taken);
}

Outcome receive_answer(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY(const support::ReceivedMessage message, read_received(call.request.body));
  TRY(const support::TakenEmail taken, answered(desk->correspondence().receive(message, ticket_actor(call))));
  return email_reply(taken);
}

Outcome email_again(Call& call, const std::string& message_id) {
  TRY(auto* desk, desk_of(call));
  TRY(const support::TicketEmail email, answered(desk->correspondence().find(message_id, ticket_actor(call))));
  return json_reply(thing_json(email));
}

Parameter day_parameter(std::string_view name, std::string description) {
  return {name, ParameterPlace::query, {.type = "string", .description = std::move(description), .format = "date"}};
}

std::vector<Route> feedback_routes() {
  return {
      {.operation = {.id = "getTicketFeedback",
                     .method = "GET",
                     .path = "/tickets/{id}/feedback",
                     .right = Right::read_tickets,
                     .summary = "Show a ticket with its feedback, newest first",
                     .description = "The first page is one query, for the ticket and its last feedback.",
                     .parameters = {ticket_id_parameter(), cursor_parameter(),
                                    ticket_limit_parameter(support::operator_page)},
                     .answers = {{200, "The ticket and a page of feedback.", {{json_content_type, "TicketFeedback"}}}}},
       .handle = show_feedback,
       .large_answer = true},
      {.operation = {.id = "listFeedback",
                     .method = "GET",
                     .path = "/tickets/feedback",
                     .right = Right::read_tickets,
                     .summary = "List the feedback of an operator, newest first",
                     .parameters = {{"operator_id",
                                     ParameterPlace::query,
                                     {.type = "string", .description = "Whose feedback."},
                                     true},
                                    cursor_parameter(),
                                    ticket_limit_parameter(support::operator_page)},
                     .answers = {{200, "A page of feedback.", {{json_content_type, "FeedbackPage"}}}}},
       .handle = list_feedback,
       .large_answer = true},
      {.operation = {.id = "addFeedback",
                     .method = "POST",
                     .path = "/tickets/{id}/feedback",
                     .right = Right::open_tickets,
                     .summary = "Rate the help that a ticket got",
                     .parameters = {ticket_id_parameter()},
                     .body = {{{json_content_type, "NewFeedback"}}, true},
                     .answers = {{201, "The feedback.", {{json_content_type, "Feedback"}}}}},
       .handle = add_feedback,
       .again = feedback_again},
  };
}

std::vector<Route> event_routes() {
  return {
      {.operation = {.id = "listTicketEvents",
                     .method = "GET",
                     .path = "/tickets/{id}/events",
                     .right = Right::read_tickets,
                     .summary = "List what happened to a ticket",
                     .description = "By day, and within a day by time.",
                     .parameters = {ticket_id_parameter(),
                                    day_parameter("since", "The first day; from the first event by default."),
                                    day_parameter("until", "The last day; to the last event by default."),
                                    {"order",
                                     ParameterPlace::query,
                                     {.type = "string",
                                      .description = "Which come first.",
                                      .choices = {"newest", "oldest"},
                                      .default_value = R"("newest")"}},
                                    cursor_parameter(),
                                    ticket_limit_parameter(support::event_page)},
                     .answers = {{200, "A page of events.", {{json_content_type, "TicketEventPage"}}}}},
       .handle = list_events,
       .large_answer = true},
      {.operation = {.id = "addTicketEvent",
                     .method = "POST",
                     .path = "/tickets/{id}/events",
                     .right = Right::work_on_tickets,
                     .summary = "Write down what happened to a ticket",
                     .description = "It gets the next number of the day. The version of the ticket stays.",
                     .parameters = {ticket_id_parameter()},
                     .body = {{{json_content_type, "NewTicketEvent"}}, true},
                     .answers = {{201, "The event.", {{json_content_type, "TicketEvent"}}}}},
       .handle = add_event,
       .again = event_again},
  };
}

std::vector<Route> correspondence_routes() {
  return {
      {.operation = {.id = "listTicketEmails",
                     .method = "GET",
                     .path = "/tickets/{id}/emails",
                     .right = Right::read_tickets,
                     .summary = "List the e-mails of a ticket, newest first",
                     .parameters = {ticket_id_parameter(), cursor_parameter(),
                                    ticket_limit_parameter(support::other_page)},
                     .answers = {{200, "A page of e-mails.", {{json_content_type, "TicketEmailPage"}}}}},
       .handle = list_ticket_emails,
       .large_answer = true},
      {.operation = {.id = "sendTicketEmail",
                     .method = "POST",
                     .path = "/tickets/{id}/emails",
                     .right = Right::work_on_tickets,
                     .summary = "Send an e-mail about a ticket",
                     .description =
                         "It goes into the outbox in one commit with its event. With an idempotency key it is "
                         "sent once.",
                     .parameters = {ticket_id_parameter()},
                     .body = {{{json_content_type, "NewTicketEmail"}}, true},
                     .answers = {{201, "The e-mail.", {{json_content_type, "TicketEmail"}}},
                                 {409, "No sender is configured (NO_SENDER), or a record cannot be read."}}},
       .handle = send_ticket_email,
       .again = email_again},
      {.operation = {.id = "receiveTicketAnswer",
                     .method = "POST",
                     .path = "/tickets/answers",
                     .right = Right::open_tickets,
                     .summary = "Add a customer's answer to its ticket",
                     .description =
                         "It is matched to its ticket by In-Reply-To, or by References, the last one first. It is "
                         "known by its Message-ID, and is added once.",
                     .body = {{{json_content_type, "ReceivedMessage"}}, true},
                     .answers = {{201, "The e-mail, with the ticket.", {{json_content_type, "TicketEmail"}}},
                                 {404,
                                  "It answers no e-mail of a ticket (UNKNOWN_ANSWER), or there are no tickets on this "
                                  "server."}}},
       .handle = receive_answer,
       .again = email_again},
  };
}

}  // namespace

std::vector<Route> ticket_record_routes() {
  std::vector<Route> routes = feedback_routes();
  std::ranges::move(event_routes(), std::back_inserter(routes));
  std::ranges::move(correspondence_routes(), std::back_inserter(routes));
  return with_ticket_answers(std::move(routes));
}

}  // namespace postino::api
