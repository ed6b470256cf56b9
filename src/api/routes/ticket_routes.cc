// Tickets: made, read and listed.
#include <algorithm>
#include <iterator>

#include "api/protocol/idempotency_headers.h"
#include "api/routes/route_groups.h"
#include "api/routes/ticket_json.h"
#include "api/routes/ticket_requests.h"

namespace postino::api {

namespace {

Outcome create_ticket(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY(const std::optional<IdempotencyHeaders> headers, read_idempotency_headers(call.request));
  TRY(const support::NewTicket ticket, read_new_ticket(call.request.body));
  const std::string key = headers ? headers->key : std::string();
  const base::Milliseconds life = headers ? headers->life.value_or(support::creation_key_life) : base::Milliseconds(0);
  auto created = desk->tickets().create(ticket, key, ticket_actor(call), life);
  if (!created && created.error().kind == support::RefusalKind::key_reused && !key.empty()) return refuse_key_reused();
  TRY(const support::Created done, answered(std::move(created)));
  desk->wake();
  Reply reply = json_reply(creation_json(done.answer), 202);
  reply.headers.emplace_back("Location", ticket_path(done.answer.ticket_id));
  return done.is_repeated ? replayed(std::move(reply)) : std::move(reply);
}

Outcome show_ticket(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY(const support::Ticket ticket, answered(desk->tickets().get(call.path_parameter("id"), ticket_actor(call))));
  return json_reply(ticket_with_data_json(ticket));
}

std::vector<std::string> ids_in(const std::string& text) {
  std::vector<std::string> ids;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) ids.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return ids;
}

Outcome show_tickets(Call& call) {
  TRY(auto* desk, desk_of(call));
  const std::vector<std::string> ids = ids_in(call.text("ids"));
  if (ids.empty()) return refuse_field("ids", "is required: ids of tickets, separated by commas");
  TRY(const std::vector<support::Ticket> tickets, answered(desk->tickets().get_many(ids, ticket_actor(call))));
  return json_reply(list_json(tickets));
}

constexpr std::string_view priorities[] = {"P1", "P2", "P3", "P4"};

Outcome list_tickets(Call& call) {
  TRY(auto* desk, desk_of(call));
  support::TicketFilter filter;
  filter.customer_id = call.text("customer_id");
  TRY(filter.status, status_in_query(call));
  filter.priority = call.text("priority");
  filter.product_type = call.text("product_type");
  filter.error_code = call.text("error_code");
  if (!filter.priority.empty() && std::ranges::find(priorities, filter.priority) == std::end(priorities))
    return refuse_field("priority", "must be P1, P2, P3 or P4");
  TRY(const TimeRange created, call.time_range());
  filter.from = created.since;
  filter.until = created.until;
  TRY(const support::PageRequest page, ticket_page(call));
  TRY(const auto tickets, answered(desk->lists().find(filter, page, ticket_actor(call))));
  return json_reply(page_json(tickets));
}

// From the counters of the live metrics, if they are complete.
std::optional<std::pair<support::TicketCounts, base::TimePoint>> counters_of_tickets(const Call& call) {
  if (call.services.metrics == nullptr) return std::nullopt;
  const auto figures = call.services.metrics->dashboard().read(call.caller.tenant);
  if (!figures) return std::nullopt;
  const auto source = std::ranges::find(figures->sources, "tickets", &metrics::SourceState::name);
  if (source == figures->sources.end() || !source->as_of || !source->due.empty()) return std::nullopt;
  support::TicketCounts counts;
  for (const support::TicketStatus status : support::all_statuses) {
    const auto figure = figures->by_name.find("tickets_by_status#" + std::string(name_of(status)));
    counts.by_status.push_back({status, figure != figures->by_name.end() ? figure->second.count : 0});
  }
  return std::pair(std::move(counts), *source->as_of);
}

Outcome count_tickets(Call& call) {
  TRY(auto* desk, desk_of(call));
  const support::Actor actor = ticket_actor(call);
  // There are no counters of single customers.
  if (!actor.scope.customer_id)
    if (const auto counted = counters_of_tickets(call))
      return json_reply(ticket_counts_json(counted->first, counted->second));
  TRY(const support::TicketCounts counts, answered(desk->lists().count(actor)));
  return json_reply(ticket_counts_json(counts, call.services.clock.now()));
}

Outcome list_escalated(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY(const support::PageRequest page, ticket_page(call));
  TRY(const auto tickets, answered(desk->lists().escalated(call.text("engineer"), page, ticket_actor(call))));
  return json_reply(page_json(tickets));
}

Parameter filter_parameter(std::string_view name, std::string description, std::vector<std::string> choices = {}) {
  return {name,
          ParameterPlace::query,
          {.type = "string", .description = std::move(description), .choices = std::move(choices)}};
}

std::vector<Parameter> ticket_filters() {
  Parameter limit = limit_parameter();
  limit.schema.default_value.clear();  // there are two
  limit.schema.description = "Maximum number of elements; by default " + std::to_string(support::customer_page) +
                             " for a customer, and " + std::to_string(support::status_page) + " otherwise.";
  std::vector<Parameter> parameters = {
      filter_parameter("customer_id", "Only of this customer."),
      filter_parameter("status", "Only with this status.", {"NEW", "PROCESSING", "READY", "FAILED", "ESCALATED"}),
      filter_parameter("priority", "Only with this priority.", {"P1", "P2", "P3", "P4"}),
      filter_parameter("product_type", "Only about this kind of product."),
      filter_parameter("error_code", "Only with this error code."),
  };
  for (Parameter& parameter : range_parameters("tickets that were created")) parameters.push_back(std::move(parameter));
  parameters.push_back(cursor_parameter());
  parameters.push_back(std::move(limit));
  return parameters;
}

std::vector<Route> ticket_reading_routes() {
  return {
      {.operation = {.id = "listTickets",
                     .method = "GET",
                     .path = "/tickets",
                     .right = Right::read_tickets,
                     .summary = "List tickets, newest first",
                     .description =
                         "Tickets match all parameters that are given. A page may be short, even empty, and yet have a "
                         "cursor: one call looks at a bounded number of tickets.",
                     .parameters = ticket_filters(),
                     .answers = {{200, "A page of tickets.", {{json_content_type, "TicketPage"}}}}},
       .handle = list_tickets,
       .large_answer = true},
      {.operation = {.id = "listEscalatedTickets",
                     .method = "GET",
                     .path = "/tickets/escalated",
                     .right = Right::read_tickets,
                     .summary = "List escalated tickets, the last one first",
                     .parameters = {filter_parameter("engineer", "Only those that this engineer takes care of."),
                                    cursor_parameter(), ticket_limit_parameter(support::other_page)},
                     .answers = {{200, "A page of tickets.", {{json_content_type, "TicketPage"}}}}},
       .handle = list_escalated,
       .large_answer = true},
      {.operation = {.id = "getTicketCounts",
                     .method = "GET",
                     .path = "/tickets/counts",
                     .right = Right::read_tickets,
                     .summary = "Show how many tickets there are of each status",
                     .description =
                         "Of the caller's tenant, or customer. From the counters of the live metrics, which "
                         "follow changes within seconds. For callers that are bound to a customer, and where "
                         "there are no counters, up to 1,000 tickets of each status are counted.",
                     .answers = {{200, "The counts.", {{json_content_type, "TicketCounts"}}}}},
       .handle = count_tickets},
      {.operation = {.id = "getTickets",
                     .method = "GET",
                     .path = "/tickets/batch",
                     .right = Right::read_tickets,
                     .summary = "Show several tickets",
                     .description = "Those that exist, in the order of the ids.",
                     .parameters = {{"ids",
                                     ParameterPlace::query,
                                     {.type = "string", .description = "Up to 100 ids, separated by commas."},
                                     true}},
                     .answers = {{200, "The tickets.", {{json_content_type, "TicketList"}}}}},
       .handle = show_tickets,
       .large_answer = true},
      {.operation = {.id = "getTicket",
                     .method = "GET",
                     .path = "/tickets/{id}",
                     .right = Right::read_tickets,
                     .summary = "Show a ticket",
                     .parameters = {ticket_id_parameter()},
                     .answers = {{200, "The ticket.", {{json_content_type, "ShownTicket"}}}}},
       .handle = show_ticket,
       .large_answer = true},
  };
}

}  // namespace

std::vector<Route> ticket_routes() {
  std::vector<Route> routes = ticket_reading_routes();
  routes.push_back(
      {.operation = {.id = "createTicket",
                     .method = "POST",
                     .path = "/tickets",
                     .right = Right::open_tickets,
                     .summary = "Open a ticket",
                     .description =
                         "The ticket, its first event, the record of the idempotency key and an e-mail, if "
                         "there is one, are written in one commit. Idempotency keys are those of the tenant, "
                         "or of the customer that the caller is bound to, and last 24 hours by default.",
                     .parameters = {idempotency_key_parameter(), idempotency_expiry_parameter()},
                     .body = {{{json_content_type, "NewTicket"}}, true},
                     .answers = {{202,
                                  "It is there. `Location` says where it is shown.",
                                  {{json_content_type, "TicketCreation"}}},
                                 {409,
                                  "No sender is configured for the letter (NO_SENDER), or a record cannot be read."},
                                 {422, "The idempotency key was used for another request."}}},
       .handle = create_ticket,
       .own_keys = true});
  return with_ticket_answers(std::move(routes));
}

}  // namespace postino::api
