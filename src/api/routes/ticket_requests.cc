#include "api/routes/ticket_requests.h"

#include <algorithm>

#include "api/protocol/limits.h"
#include "api/routes/object_body.h"
#include "base/base64.h"
#include "base/text.h"
#include "item/plain_json.h"

namespace postino::api {

namespace {

using Need = json::Fields::Need;
using support::TicketLimits;

constexpr std::size_t bytes_of_character = 4;  // at most

// The desk counts characters and looks at what they are; what is far too long does not get there.
std::string words_in(json::Fields& fields, std::string_view name, std::size_t characters, Need need = Need::optional) {
  return std::string(fields.text(name, need, characters * bytes_of_character).value_or(""));
}

std::string person_in(json::Fields& fields) {
  std::string person(fields.text("by", Need::optional, TicketSizes::person).value_or(""));
  if (base::has_control_character(person)) fields.refuse("by", "must not contain control characters");
  if (!person.empty() && base::trim(person).empty()) fields.refuse("by", "must not be blank");
  return person;
}

std::optional<support::TicketStatus> status_in(json::Fields& fields, std::string_view name, Need need) {
  const auto text = fields.text(name, need, TicketLimits::short_text);
  if (!text) return std::nullopt;
  const auto status = support::parse_status(*text);
  if (!status) fields.refuse(name, "must be NEW, PROCESSING, READY, FAILED or ESCALATED");
  return status;
}

support::Seen seen_in(json::Fields& fields) {
  support::Seen seen;
  seen.version = fields.integer("version", Need::optional, 0, std::int64_t{1} << 53);
  seen.status = status_in(fields, "seen_status", Need::optional);
  return seen;
}

support::TicketCustomer customer_in(json::Fields& fields) {
  support::TicketCustomer customer;
  const auto element = fields.any("customer", Need::required);
  if (!element) return customer;
  json::Fields own(*element, "customer", fields.errors());
  customer.id = words_in(own, "id", TicketLimits::id_bytes, Need::required);
  customer.name = words_in(own, "name", TicketLimits::name);
  customer.contact_email = words_in(own, "contact_email", TicketSizes::address);
  customer.account_tier = words_in(own, "account_tier", TicketLimits::short_text);
  own.refuse_others();
  return customer;
}

support::Asset asset_in(json::Fields& fields) {
  support::Asset asset;
  const auto element = fields.any("asset", Need::optional);
  if (!element) return asset;
  json::Fields own(*element, "asset", fields.errors());
  asset.product_type = words_in(own, "product_type", TicketLimits::short_text);
  asset.model = words_in(own, "model", TicketLimits::short_text);
  asset.serial = words_in(own, "serial", TicketLimits::short_text);
  asset.firmware = words_in(own, "firmware", TicketLimits::short_text);
  own.refuse_others();
  return asset;
}

support::Letter letter_fields(json::Fields& own) {
  support::Letter letter;
  if (const auto kind = own.text("kind", Need::optional, TicketSizes::kind)) letter.kind = std::string(*kind);
  letter.subject = words_in(own, "subject", TicketLimits::subject, Need::required);
  letter.text = std::string(own.text("text", Need::optional, TicketLimits::email_bytes).value_or(""));
  letter.html = std::string(own.text("html", Need::optional, TicketLimits::email_bytes).value_or(""));
  const auto recipients = own.list("to", Need::optional, TicketSizes::recipients);
  for (std::size_t i = 0; recipients && i < recipients->size(); ++i) {
    const auto address = (*recipients)[i].text();
    if (!address || address->size() > TicketSizes::address)
      own.refuse(json::element_path("to", i),
                 "must be a string of at most " + std::to_string(TicketSizes::address) + " bytes");
    else
      letter.to.emplace_back(*address);
  }
  return letter;
}

std::optional<support::Letter> letter_in(json::Fields& fields) {
  const auto element = fields.any("letter", Need::optional);
  if (!element) return std::nullopt;
  json::Fields own(*element, "letter", fields.errors());
  support::Letter letter = letter_fields(own);
  letter.key = words_in(own, "key", TicketLimits::key_bytes);
  own.refuse_others();
  return letter;
}

MoveRequest move_in(json::Fields& fields) {
  MoveRequest request;
  request.move.reason = words_in(fields, "reason", TicketLimits::reason);
  request.seen = seen_in(fields);
  request.letter = letter_in(fields);
  request.by = person_in(fields);
  return request;
}

item::Map map_in(json::Fields& fields, std::string_view name, Need need) {
  const auto element = fields.any(name, need);
  if (!element) return {};
  if (!element->is_object()) {
    fields.refuse(name, "must be an object");
    return {};
  }
  item::AttributeValue value = item::from_plain_json(*element);
  auto* const map = value.get_if<item::Map>();
  return map != nullptr ? std::move(*map) : item::Map();
}

ProblemType type_of(support::RefusalKind kind) {
  using enum support::RefusalKind;
  switch (kind) {
    case invalid:
      return problems::invalid_request;
    case unknown_ticket:
      return problems::ticket_not_found;
    case unknown_attachment:
      return problems::attachment_not_found;
    case unknown_answer:
      return problems::unknown_answer;
    case other_version:
      return problems::other_version;
    case wrong_state:
      return problems::wrong_ticket_state;
    case key_reused:
      return problems::idempotency_key_reused;
    case no_sender:
      return problems::no_sender;
    case busy:
      return problems::busy;
    case unavailable:
      return problems::store_unavailable;
    case outcome_unknown:
      return problems::outcome_unknown;
    case corrupt:
      break;
  }
  return problems::unreadable_record;
}

}  // namespace

base::Result<support::SupportDesk*, Problem> desk_of(const Call& call) {
  if (call.services.tickets == nullptr) return refuse(problems::no_tickets, "The server runs with --no-tickets.");
  return call.services.tickets;
}

support::Scope scope_of(const Caller& caller) {
  support::Scope scope;
  scope.tenant = caller.tenant;
  if (!caller.customer.empty()) scope.customer_id = caller.customer;
  return scope;
}

support::Actor ticket_actor(const Call& call, std::string name) {
  const bool is_bound = !call.caller.customer.empty();
  return {.scope = scope_of(call.caller),
          .name = is_bound ? "" : std::move(name),
          .key = call.caller.name,
          .note_answer = call.note_answer};
}

Problem problem_of(support::Refusal refusal) {
  using enum support::RefusalKind;
  json::FieldErrors errors;
  for (const support::FieldFault& fault : refusal.faults) errors.add(fault.field, fault.rule);
  if (refusal.kind == invalid && !errors.empty()) return refuse_fields(problems::invalid_request, errors).value();
  // What ails the store is for the log alone.
  if (refusal.kind == unavailable) return problem_of(base::Error{base::ErrorCode::io, std::move(refusal.message)}, {});
  if (refusal.kind == outcome_unknown) {
    Problem problem = refuse(problems::outcome_unknown,
                             "It may have been done. Look, or repeat the request with the same Idempotency-Key: what "
                             "was done is not done again.")
                          .value();
    problem.cause = std::move(refusal.message);
    return problem;
  }
  Problem problem = refuse(type_of(refusal.kind), as_sentence(std::move(refusal.message))).value();
  problem.current_version = refusal.current_version;
  if (refusal.current_status) problem.current_status = name_of(*refusal.current_status);
  return problem;
}

base::Result<support::PageRequest, Problem> ticket_page(const Call& call) {
  TRY(const std::optional<int> limit, call.number("limit", Limits::page_size));
  return support::PageRequest{call.text("cursor"), limit.value_or(0)};
}

base::Result<std::optional<support::TicketStatus>, Problem> status_in_query(const Call& call) {
  const std::string text = call.text("status");
  if (text.empty()) return std::optional<support::TicketStatus>();
  if (const auto status = support::parse_status(text)) return status;
  return refuse_field("status", "must be NEW, PROCESSING, READY, FAILED or ESCALATED");
}

base::Result<support::NewTicket, Problem> read_new_ticket(std::string_view body) {
  return read_object(body, [](json::Fields& fields) {
    support::NewTicket ticket;
    ticket.customer = customer_in(fields);
    ticket.asset = asset_in(fields);
    ticket.symptom_text = words_in(fields, "symptom_text", TicketLimits::symptom, Need::required);
    ticket.error_code = words_in(fields, "error_code", TicketLimits::short_text);
    if (const auto priority = fields.text("priority", Need::optional, TicketLimits::short_text))
      ticket.priority = std::string(*priority);
    ticket.lang = words_in(fields, "lang", TicketLimits::short_text);
    ticket.letter = letter_in(fields);
    return ticket;
  });
}

base::Result<MoveRequest, Problem> read_move(std::string_view body) {
  return read_object(body, [](json::Fields& fields) {
    MoveRequest request = move_in(fields);
    if (const auto status = status_in(fields, "status", Need::required)) request.move.to = *status;
    request.move.engineer = words_in(fields, "engineer", TicketLimits::id_bytes);
    return request;
  });
}

base::Result<MoveRequest, Problem> read_escalation(std::string_view body) {
  return read_object(body, [](json::Fields& fields) {
    MoveRequest request = move_in(fields);
    request.move.to = support::TicketStatus::escalated;
    request.move.engineer = words_in(fields, "engineer", TicketLimits::id_bytes, Need::required);
    return request;
  });
}

base::Result<MoveRequest, Problem> read_deescalation(std::string_view body) {
  return read_object(body, [](json::Fields& fields) { return move_in(fields); });
}

base::Result<PriorityRequest, Problem> read_priority(std::string_view body) {
  return read_object(body, [](json::Fields& fields) {
    PriorityRequest request;
    request.priority = words_in(fields, "priority", TicketLimits::short_text, Need::required);
    request.seen = seen_in(fields);
    request.by = person_in(fields);
    return request;
  });
}

base::Result<support::NewFeedback, Problem> read_feedback(std::string_view body) {
  return read_object(body, [](json::Fields& fields) {
    support::NewFeedback feedback;
    feedback.operator_id = words_in(fields, "operator_id", TicketLimits::id_bytes, Need::required);
    feedback.rating = static_cast<int>(
        fields.integer("rating", Need::required, TicketLimits::least_rating, TicketLimits::most_rating).value_or(0));
    feedback.was_helpful = fields.boolean("was_helpful", Need::optional);
    feedback.resolved_issue = fields.boolean("resolved_issue", Need::optional);
    feedback.comments = words_in(fields, "comments", TicketLimits::comments);
    return feedback;
  });
}

base::Result<EventRequest, Problem> read_event(std::string_view body) {
  return read_object(body, [](json::Fields& fields) {
    EventRequest request;
    request.type = words_in(fields, "event_type", TicketLimits::short_text, Need::required);
    request.details = map_in(fields, "details", Need::optional);
    request.by = person_in(fields);
    return request;
  });
}

base::Result<LetterRequest, Problem> read_letter(std::string_view body) {
  return read_object(body, [](json::Fields& fields) {
    LetterRequest request;
    request.letter = letter_fields(fields);
    request.by = person_in(fields);
    return request;
  });
}

base::Result<support::ReceivedMessage, Problem> read_received(std::string_view body) {
  return read_object(body, support::received_in);
}

base::Result<support::AttachmentUpload, Problem> read_upload(std::string_view body, std::size_t most_bytes) {
  return read_object(body, [most_bytes](json::Fields& fields) {
    constexpr std::size_t digest_digits = 64;
    support::AttachmentUpload upload;
    upload.name = std::string(fields.text("name", Need::required, TicketSizes::file_name).value_or(""));
    upload.content_type =
        std::string(fields.text("content_type", Need::optional, TicketSizes::content_type).value_or(""));
    upload.size = fields.integer("size", Need::optional, 0, std::int64_t{1} << 40);
    upload.sha256 = std::string(fields.text("sha256", Need::optional, digest_digits).value_or(""));
    const auto content = fields.text("content_base64", Need::required, (most_bytes + 2) / 3 * 4);
    if (!content) return upload;
    if (auto bytes = base::from_base64(*content))
      upload.bytes = *std::move(bytes);
    else
      fields.refuse("content_base64", "must be base64");
    return upload;
  });
}

base::Result<item::Map, Problem> read_cached(std::string_view body) {
  return read_object(body, [](json::Fields& fields) { return map_in(fields, "data", Need::required); });
}

Parameter ticket_id_parameter() {
  return {"id",
          ParameterPlace::path,
          {.type = "string",
           .description = "The id of the ticket.",
           .example = R"("tkt_0b1c3a5e-7f42-4d0c-9a3b-5d2f1e6a7c88")"}};
}

Parameter ticket_limit_parameter(int usual) {
  Parameter parameter = limit_parameter();
  parameter.schema.default_value = std::to_string(usual);
  return parameter;
}

std::vector<Route> with_ticket_answers(std::vector<Route> routes) {
  for (Route& route : routes) {
    route.operation.group = "Tickets";
    std::vector<AnswerDescription>& answers = route.operation.answers;
    for (const AnswerDescription& answer :
         {AnswerDescription{
              404, "There is no such ticket (code TICKET_NOT_FOUND), or there are none on this server.", {}},
          AnswerDescription{409, "A record cannot be read (`detail` says which and why).", {}}})
      if (std::ranges::find(answers, answer.status, &AnswerDescription::status) == answers.end())
        answers.push_back(answer);
    std::ranges::sort(answers, {}, &AnswerDescription::status);
  }
  return routes;
}

}  // namespace postino::api
