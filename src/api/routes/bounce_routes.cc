// Delivery reports that came back.
#include "api/protocol/limits.h"
#include "api/routes/reminder_requests.h"
#include "api/routes/route_groups.h"
#include "base/text.h"
#include "json/writer.h"

namespace postino::api {

namespace {

using outbox::BounceOutcome;

// The report itself, or from {"message": "..."}.
base::Result<std::string, Problem> read_report(const http::Request& request) {
  const std::string_view type = request.header("content-type");
  if (base::equal_ignoring_case(type.substr(0, message_content_type.size()), message_content_type))
    return std::string(request.body);
  json::FieldErrors errors;
  json::Document document;
  if (!document.parse(request.body, errors)) return refuse_fields(problems::malformed_json, errors);
  json::Fields fields(document.root(), "", errors);
  const auto message = fields.text("message", json::Fields::Need::required, Limits::body_bytes);
  fields.refuse_others();
  if (!errors.empty()) return refuse_fields(problems::invalid_request, errors);
  return std::string(*message);
}

bool is_fault_of_caller(const base::Error& error) {
  return error.code == base::ErrorCode::invalid || error.code == base::ErrorCode::malformed;
}

std::string bounce_json(const BounceOutcome& outcome) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("email_id").string(outcome.email_id);
  json.key("bounces").begin_array();
  for (const outbox::Bounce& bounce : outcome.bounces) {
    json.begin_object();
    json.key("recipient").string(bounce.recipient);
    json.key("status").string(bounce.status);
    json.key("diagnostic").string(bounce.diagnostic);
    json.key("permanent").boolean(bounce.permanent);
    json.end_object();
  }
  json.end_array();
  json.key("suppressed").begin_array();
  for (const std::string& address : outcome.suppressed) json.string(address);
  json.end_array();
  json.end_object();
  return text;
}

Outcome take_bounce(Call& call) {
  TRY(const std::string report, read_report(call.request));
  auto outcome = call.services.outbox.take_bounce(report, call.caller.tenant, call.notes);
  if (!outcome && is_fault_of_caller(outcome.error()))
    return refuse(problems::not_a_delivery_report, as_sentence(std::move(outcome).error().message));
  if (!outcome && outcome.error().code == base::ErrorCode::io)
    return refuse_in_doubt(
        "The report may have been taken, or a part of it. Repeat the request: with the same Idempotency-Key, what was "
        "taken is not taken again.",
        std::move(outcome).error());
  TRY(const BounceOutcome taken, answered(std::move(outcome), problems::unknown_email));
  if (taken.unreadable) return refuse_unreadable(taken.unreadable->error);
  if (taken.email_id.empty()) return refuse(problems::unknown_email, "No e-mail has the Message-ID in the report.");
  note_email(call, taken.email_id);
  return json_reply(bounce_json(taken));
}

}  // namespace

std::vector<Route> bounce_routes() {
  return {{.operation = {.id = "takeBounce",
                         .method = "POST",
                         .path = "/bounces",
                         .right = Right::operate,
                         .group = "Bounces",
                         .summary = "Submit a delivery report (bounce)",
                         .description = "A delivery report as defined by RFC 3464. Addresses that failed permanently "
                                        "are added to the suppression list.",
                         .body = {{{message_content_type, ""}, {json_content_type, "BounceMessage"}}, true},
                         .answers = {{200,
                                      "The e-mail that the report is about, and what it says.",
                                      {{json_content_type, "BounceOutcome"}}},
                                     {400, "The message is not a delivery report."},
                                     {404, "No e-mail has the Message-ID in the report (code UNKNOWN_EMAIL)."},
                                     {409,
                                      "The record of the e-mail cannot be read (code UNREADABLE_EMAIL), or a request "
                                      "with the same idempotency key is in progress."}}},
           .handle = take_bounce,
           .audited = Audited::never}};  // a report of a mail server is no decision of a person
}

}  // namespace postino::api
