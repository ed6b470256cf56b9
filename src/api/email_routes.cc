// What can be seen of e-mails.
#include <numeric>

#include "api/email_json.h"
#include "api/route.h"
#include "base/timestamp.h"

namespace postino::api {

namespace {

using outbox::ListRequest;
using outbox::State;

base::Result<std::optional<base::TimePoint>, Problem> time_parameter(const Call& call, const char* name) {
  const std::string* text = call.query.find(name);
  if (text == nullptr) return std::optional<base::TimePoint>();
  const auto time = base::parse_timestamp(*text);
  if (!time) return refuse_field(name, time.error().message);
  return std::optional(*time);
}

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

Outcome list_emails(Call& call) {
  ListRequest request;
  TRY(request.state, status_parameter(call));
  TRY(request.from, time_parameter(call, "from"));
  TRY(request.to, time_parameter(call, "to"));
  if (request.from && request.to && *request.to <= *request.from) return refuse_field("to", "must be later than from");
  return list(call, std::move(request));
}

Outcome list_invalid_emails(Call& call) {
  ListRequest request;
  request.state = State::invalid;
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
  return {409, "The record of the e-mail cannot be read (`detail` says why). It is left alone until it is mended.", {}};
}

AnswerDescription page_answer() { return {200, "A page of e-mails.", {{json_content_type, "EmailPage"}}}; }

Schema time_schema(std::string description) {
  return {.type = "string", .description = std::move(description), .format = "date-time"};
}

std::vector<Route> listing_routes() {
  return {
      {.operation = {.id = "listEmails",
                     .method = "GET",
                     .path = "/emails",
                     .role = Role::readers,
                     .group = "E-mails",
                     .summary = "List e-mails, newest first",
                     .parameters = {{"status",
                                     ParameterPlace::query,
                                     {.reference = "State", .description = "Only e-mails in this state."}},
                                    {"from", ParameterPlace::query,
                                     time_schema("Only e-mails that were accepted at this time or later.")},
                                    {"to", ParameterPlace::query,
                                     time_schema("Only e-mails that were accepted before this time.")},
                                    cursor_parameter(),
                                    limit_parameter()},
                     .answers = {page_answer()}},
       .handle = list_emails,
       .large_answer = true},
      {.operation = {.id = "listInvalidEmails",
                     .method = "GET",
                     .path = "/invalid-emails",
                     .role = Role::readers,
                     .group = "E-mails",
                     .summary = "List e-mails whose message could not be built",
                     .description = "The same as GET /emails with the status INVALID.",
                     .parameters = {cursor_parameter(), limit_parameter()},
                     .answers = {page_answer()}},
       .handle = list_invalid_emails,
       .large_answer = true},
      {.operation = {.id = "listStaleEmails",
                     .method = "GET",
                     .path = "/stale-emails",
                     .role = Role::readers,
                     .group = "E-mails",
                     .summary = "List e-mails whose worker has not renewed its lease, or whose record cannot be read",
                     .description =
                         "After those with an expired lease come e-mails whose record this server has met and cannot "
                         "read, because it is damaged or another program has changed it. They are shown as HELD, with "
                         "the reason, to callers without a tenant. They are left alone until their record is mended: "
                         "all other calls about one of them answer 409 with the code UNREADABLE_EMAIL.",
                     .parameters = {limit_parameter()},
                     .answers = {{200,
                                  "E-mails whose lease has expired, oldest first, and those that cannot be read.",
                                  {{json_content_type, "EmailList"}}}}},
       .handle = list_stale_emails,
       .large_answer = true},
      {.operation = {.id = "countEmails",
                     .method = "GET",
                     .path = "/emails/counts",
                     .role = Role::readers,
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
                     .role = Role::readers,
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
                     .role = Role::readers,
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
                     .role = Role::readers,
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
