// What can be seen of e-mails.
#include <numeric>

#include "api/routes/email_json.h"
#include "api/routes/route_groups.h"
#include "base/timestamp.h"
#include "mail/address.h"

namespace postino::api {

namespace {

using outbox::ListRequest;
using outbox::State;

base::Result<std::optional<State>, Problem> status_parameter(const Call& call) {
  const std::string* text = call.query.find("status");
  if (text == nullptr) return std::optional<State>();
  if (const auto state = outbox::parse_state(*text)) return state;
  std::string rule = "must be one of";
  for (const State state : outbox::all_states())
    rule.append(state == outbox::all_states().front() ? " " : ", ").append(name_of(state));
  return refuse_field("status", std::move(rule));
}

Outcome list(const Call& call, ListRequest request) {
  TRY(Page page, call.page());
  request.tenant = call.caller.tenant;
  request.cursor = std::move(page.cursor);
  request.limit = page.limit;
  TRY(const outbox::EmailPage emails, answered_page(call.services.outbox.list(request)));
  return json_reply(to_json(emails, call.caller.role));
}

base::Result<std::string, Problem> text_parameter(const Call& call, const char* name, std::size_t most) {
  const std::string* text = call.query.find(name);
  if (text == nullptr) return std::string();
  if (text->size() > most) return refuse_field(name, "must have at most " + std::to_string(most) + " bytes");
  return *text;
}

// An address, or a time: that is what the parameter meant once, and no address looks like one.
base::Result<void, Problem> address_or_time(const Call& call, const char* name, std::string& address,
                                            std::optional<base::TimePoint>& time) {
  TRY(std::string text, text_parameter(call, name, mail::longest_mailbox_address));
  if (text.empty()) return {};
  if (text.find('@') != std::string::npos) {
    address = std::move(text);
    return {};
  }
  const auto moment = base::parse_timestamp(text);
  if (!moment || time) return refuse_field(name, "must be an address, or an @ and a domain");
  time = *moment;
  return {};
}

Outcome list_emails(Call& call) {
  ListRequest request;
  TRY(const std::optional<State> state, status_parameter(call));
  if (state) request.states = {*state};
  TRY(const TimeRange range, call.time_range());
  request.since = range.since;
  request.until = range.until;
  TRY(request.filter.tag, text_parameter(call, "tag", outbox::PayloadLimits::tag_bytes));
  TRY(request.filter.subject, text_parameter(call, "subject", outbox::most_subject_bytes));
  TRY_VOID(address_or_time(call, "from", request.filter.sender, request.since));
  TRY_VOID(address_or_time(call, "to", request.filter.recipient, request.until));
  if (request.since && request.until && *request.until <= *request.since)
    return refuse_field(call.query.find("until") != nullptr ? "until" : "to", "must be later than the beginning");
  return list(call, std::move(request));
}

// Whether their callers know of it already or not.
Outcome list_invalid_emails(Call& call) {
  ListRequest request;
  request.states = {State::invalid, State::calling_invalid, State::invalid_acknowledged};
  return list(call, std::move(request));
}

Outcome list_stale_emails(Call& call) {
  TRY(const int limit, call.limit());
  TRY(const std::vector<outbox::Email> emails, answered(call.services.outbox.stale(call.caller.tenant, limit)));
  return json_reply(to_json(emails, call.caller.role));
}

Outcome count_emails(Call& call) {
  TRY(const outbox::Counts counts, answered(call.services.outbox.counts(call.caller.tenant)));
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("counts").begin_object();
  for (const State state : outbox::all_states())
    json.key(name_of(state)).integer(counts[static_cast<std::size_t>(state)]);
  json.end_object();
  json.key("total").integer(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  json.end_object();
  return json_reply(std::move(text));
}

Outcome show_email(Call& call) {
  TRY(const std::string id, call.email_id());
  TRY(const outbox::ShownEmail shown, answered_about(call, id, call.services.outbox.show(id, call.caller.tenant)));
  return json_reply(to_json(shown, call.caller.role));
}

Outcome show_message(Call& call) {
  TRY(const std::string id, call.email_id());
  TRY(std::string message,
      answered_with_contents(call, id, call.services.outbox.message(id, call.caller.tenant, call.admit()),
                             problems::message_not_found));
  return message_reply(std::move(message), id);
}

Outcome show_payload(Call& call) {
  TRY(const std::string id, call.email_id());
  TRY(std::string payload,
      answered_with_contents(call, id, call.services.outbox.payload(id, call.caller.tenant, call.admit()),
                             problems::payload_not_found));
  return json_reply(std::move(payload));
}

AnswerDescription unreadable_answer() {
  return {
      409, "The record of the e-mail cannot be read (`detail` says why). It is left alone until it is repaired.", {}};
}

AnswerDescription page_answer() { return {200, "A page of e-mails.", {{json_content_type, "EmailPage"}}}; }

Schema text_schema(std::string description, std::size_t most) {
  return {.type = "string", .description = std::move(description), .least = 1, .most = limit_of(most)};
}

constexpr std::string_view list_description =
    "All parameters that are given must be met. Searching is bounded: for a page the server looks at 1,000 e-mails at "
    "most, from the newest on. So a page can have fewer elements than `limit`, or none, and not be the last: go on as "
    "long as `cursor` is not null. `status`, `since` and `until` lead to the e-mails directly; the others are looked "
    "for among these.\n\nFor compatibility, `from` and `to` may be times: then they mean `since` and `until`.";

std::vector<Parameter> list_parameters() {
  constexpr ParameterPlace query = ParameterPlace::query;
  constexpr std::size_t address = mail::longest_mailbox_address;
  std::vector<Parameter> parameters = {
      {"status", query, {.reference = "State", .description = "Only e-mails in this state."}},
      {"tag", query, text_schema("Only e-mails with this tag.", outbox::PayloadLimits::tag_bytes)},
      {"to", query, text_schema("Only e-mails to this address, or to a domain: @example.org.", address)},
      {"from", query, text_schema("Only e-mails from this address, or from a domain: @example.org.", address)},
      {"subject", query,
       text_schema("Only e-mails with this text in their subject; A to Z in either case.", outbox::most_subject_bytes)},
  };
  for (Parameter& parameter : range_parameters("e-mails that were accepted"))
    parameters.push_back(std::move(parameter));
  parameters.push_back(cursor_parameter());
  parameters.push_back(limit_parameter());
  return parameters;
}

std::vector<Route> listing_routes() {
  return {
      {.operation = {.id = "listEmails",
                     .method = "GET",
                     .path = "/emails",
                     .right = Right::read,
                     .group = "E-mails",
                     .summary = "List e-mails, newest first",
                     .description = list_description,
                     .parameters = list_parameters(),
                     .answers = {page_answer()}},
       .handle = list_emails,
       .large_answer = true},
      {.operation = {.id = "listInvalidEmails",
                     .method = "GET",
                     .path = "/emails/invalid",
                     .right = Right::read,
                     .group = "E-mails",
                     .summary = "List e-mails whose message could not be built",
                     .description = "Those that are INVALID, CALLING-INVALID-CALLBACK or INVALID-ACKNOWLEDGED.",
                     .parameters = {cursor_parameter(), limit_parameter()},
                     .answers = {page_answer()},
                     .former_path = "/invalid-emails"},
       .handle = list_invalid_emails,
       .large_answer = true},
      {.operation = {.id = "listStaleEmails",
                     .method = "GET",
                     .path = "/emails/stale",
                     .right = Right::read,
                     .group = "E-mails",
                     .summary = "List e-mails whose worker has not renewed its lease, or whose record cannot be read",
                     .description =
                         "After those with an expired lease come e-mails whose record this server has met and cannot "
                         "read, because it is damaged or another program has changed it. They are shown as HELD, with "
                         "the reason, to callers without a tenant. They are left alone until their record is repaired: "
                         "all other calls about one of them answer 409 with the code UNREADABLE_EMAIL.",
                     .parameters = {limit_parameter()},
                     .answers = {{200,
                                  "E-mails whose lease has expired, oldest first, and those that cannot be read.",
                                  {{json_content_type, "EmailList"}}}},
                     .former_path = "/stale-emails"},
       .handle = list_stale_emails,
       .large_answer = true},
      {.operation = {.id = "countEmails",
                     .method = "GET",
                     .path = "/emails/counts",
                     .right = Right::read,
                     .group = "E-mails",
                     .summary = "Count e-mails by state",
                     .answers = {{200, "The number of e-mails in each state.", {{json_content_type, "Counts"}}}}},
       .handle = count_emails},
  };
}

std::vector<Route> single_routes() {
  return {
      {.operation = {.id = "getEmail",
                     .method = "GET",
                     .path = "/emails/{id}",
                     .right = Right::read,
                     .group = "E-mails",
                     .summary = "Show an e-mail with its history",
                     .parameters = {email_id_parameter()},
                     .answers = {{200, "The e-mail.", {{json_content_type, "EmailWithHistory"}}},
                                 {404, "No e-mail has this id."},
                                 unreadable_answer()}},
       .handle = show_email},
      {.operation = {.id = "getMessage",
                     .method = "GET",
                     .path = "/emails/{id}/message",
                     .right = Right::read,
                     .group = "E-mails",
                     .summary = "Show the message of an e-mail as it is sent",
                     .parameters = {email_id_parameter()},
                     .answers = {{200, "The message.", {{message_content_type, ""}}},
                                 {404, "No e-mail has this id, or its message is not built yet."},
                                 unreadable_answer()}},
       .handle = show_message,
       .large_answer = true},
      {.operation = {.id = "getPayload",
                     .method = "GET",
                     .path = "/emails/{id}/payload",
                     .right = Right::read,
                     .group = "E-mails",
                     .summary = "Show the payload of an e-mail as it was submitted",
                     .parameters = {email_id_parameter()},
                     .answers = {{200, "The payload.", {{json_content_type, "Payload"}}},
                                 {404, "No e-mail has this id, or its payload no longer exists."},
                                 unreadable_answer()}},
       .handle = show_payload,
       .large_answer = true},
  };
}

}  // namespace

std::vector<Route> email_routes() {
  std::vector<Route> routes = listing_routes();
  std::ranges::move(single_routes(), std::back_inserter(routes));
  return routes;
}

}  // namespace postino::api
