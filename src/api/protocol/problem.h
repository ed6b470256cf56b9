// What went wrong with a request, as problem+json (RFC 9457) tells it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "broker/broker.h"
#include "json/fields.h"
#include "json/writer.h"
#include "messages/fault.h"
#include "reminders/refusal.h"

namespace postino::api {

inline constexpr int first_server_error = 500;  // of HTTP's statuses

// A kind of problem. Code and status are a promise to callers: they decide by them.
struct ProblemType {
  int status = 500;
  std::string_view code;   // also the end of the type's URI
  std::string_view title;  // the same for every problem of this type
  bool passes = false;     // the same request may succeed in a moment; the response says when to try again
};

namespace problems {

inline constexpr ProblemType invalid_request{400, "INVALID_REQUEST", "The request is invalid"};
inline constexpr ProblemType malformed_json{400, "MALFORMED_JSON", "The body is not valid JSON"};
inline constexpr ProblemType idempotency_key_required{400, "IDEMPOTENCY_KEY_REQUIRED",
                                                      "An idempotency key is required"};
inline constexpr ProblemType not_a_delivery_report{400, "NOT_A_DELIVERY_REPORT",
                                                   "The message is not a delivery report"};
inline constexpr ProblemType unauthenticated{401, "UNAUTHENTICATED", "A valid API key is required"};
inline constexpr ProblemType session_ended{401, "SESSION_ENDED", "The session has ended"};
inline constexpr ProblemType sign_in_refused{401, "SIGN_IN_REFUSED", "User, password or API key are wrong"};
inline constexpr ProblemType forbidden{403, "FORBIDDEN", "The API key does not allow this"};
inline constexpr ProblemType foreign_origin{403, "FOREIGN_ORIGIN", "Requests from other web sites are refused"};
inline constexpr ProblemType foreign_host{403, "FOREIGN_HOST", "The host name is not allowed"};
inline constexpr ProblemType forwarded{403, "FORWARDED", "Requests passed on by a proxy are refused"};
inline constexpr ProblemType loopback_only{403, "LOOPBACK_ONLY", "Only requests from this machine are allowed"};
inline constexpr ProblemType same_person{403, "SAME_PERSON", "The person who drafted a reminder may not approve it"};
inline constexpr ProblemType path_not_found{404, "NOT_FOUND", "Path not found"};
inline constexpr ProblemType email_not_found{404, "EMAIL_NOT_FOUND", "E-mail not found"};
inline constexpr ProblemType message_not_found{404, "MESSAGE_NOT_FOUND", "Message not found"};
inline constexpr ProblemType payload_not_found{404, "PAYLOAD_NOT_FOUND", "Payload not found"};
inline constexpr ProblemType unknown_email{404, "UNKNOWN_EMAIL", "The report matches no e-mail"};
inline constexpr ProblemType not_suppressed{404, "NOT_SUPPRESSED", "The address is not on the suppression list"};
inline constexpr ProblemType no_such_queue{404, "NO_SUCH_QUEUE", "Queue not found"};
inline constexpr ProblemType no_sandbox{404, "NO_SANDBOX", "There is no sandbox"};
inline constexpr ProblemType no_reminders{404, "NO_REMINDERS", "There are no reminders"};
inline constexpr ProblemType no_sessions{404, "NO_SESSIONS", "There is nothing to sign in with"};
inline constexpr ProblemType session_not_found{404, "SESSION_NOT_FOUND", "Session not found"};
inline constexpr ProblemType user_not_found{404, "USER_NOT_FOUND", "User or API key not found"};
inline constexpr ProblemType no_audit{404, "NO_AUDIT", "There is no audit"};
inline constexpr ProblemType no_backups{404, "NO_BACKUPS", "No backups are made"};
inline constexpr ProblemType no_keys{404, "NO_KEYS", "The server keeps no keys"};
inline constexpr ProblemType key_not_found{404, "KEY_NOT_FOUND", "Key not found"};
inline constexpr ProblemType not_watched{404, "NOT_WATCHED", "The traffic of the store is not watched"};
inline constexpr ProblemType no_metrics{404, "NO_METRICS", "Nothing is counted"};
inline constexpr ProblemType source_not_found{404, "SOURCE_NOT_FOUND", "Nothing of this name is counted"};
inline constexpr ProblemType change_not_found{404, "CHANGE_NOT_FOUND", "Change not found"};
inline constexpr ProblemType customer_not_found{404, "CUSTOMER_NOT_FOUND", "Customer not found"};
inline constexpr ProblemType invoice_not_found{404, "INVOICE_NOT_FOUND", "Invoice not found"};
inline constexpr ProblemType template_not_found{404, "TEMPLATE_NOT_FOUND", "Template or branding not found"};
inline constexpr ProblemType draft_not_found{404, "DRAFT_NOT_FOUND", "Draft not found"};
inline constexpr ProblemType reminder_not_found{404, "REMINDER_NOT_FOUND", "Reminder not found"};
inline constexpr ProblemType no_tickets{404, "NO_TICKETS", "There are no tickets"};
inline constexpr ProblemType ticket_not_found{404, "TICKET_NOT_FOUND", "Ticket not found"};
inline constexpr ProblemType attachment_not_found{404, "ATTACHMENT_NOT_FOUND", "Attachment not found"};
inline constexpr ProblemType unknown_answer{404, "UNKNOWN_ANSWER", "The message answers no e-mail of a ticket"};
inline constexpr ProblemType not_cached{404, "NOT_CACHED", "There is no such entry, or it has expired"};
inline constexpr ProblemType method_not_allowed{405, "METHOD_NOT_ALLOWED", "The path does not allow this method"};
inline constexpr ProblemType key_refused{409, "KEY_REFUSED", "The state of the keys does not allow this"};
inline constexpr ProblemType not_counted_here{409, "NOT_COUNTED_HERE", "The server does not count this now"};
inline constexpr ProblemType backup_under_way{409, "BACKUP_UNDER_WAY", "A backup is being made"};
inline constexpr ProblemType not_retried{409, "NOT_RETRIED", "The change cannot be tried again"};
inline constexpr ProblemType wrong_state{409, "WRONG_STATE", "The state of the e-mail does not allow this"};
inline constexpr ProblemType unreadable_email{409, "UNREADABLE_EMAIL", "The record of the e-mail cannot be read"};
inline constexpr ProblemType other_revision{409, "OTHER_REVISION", "The draft has another revision now"};
inline constexpr ProblemType wrong_reminder_state{409, "WRONG_REMINDER_STATE",
                                                  "The state of the draft, invoice or template does not allow this"};
inline constexpr ProblemType reminder_rule{409, "REMINDER_RULE", "A rule refuses the reminder"};
inline constexpr ProblemType reminders_stopped{409, "REMINDERS_STOPPED", "The customer gets no reminders"};
inline constexpr ProblemType no_sender{409, "NO_SENDER", "No sender is configured"};
inline constexpr ProblemType other_version{409, "OTHER_VERSION", "The ticket has another version now"};
inline constexpr ProblemType wrong_ticket_state{409, "WRONG_TICKET_STATE",
                                                "The status of the ticket does not allow this"};
inline constexpr ProblemType unreadable_record{409, "UNREADABLE_RECORD", "A record cannot be read"};
inline constexpr ProblemType idempotency_key_in_progress{409, "IDEMPOTENCY_KEY_IN_PROGRESS",
                                                         "A request with this idempotency key is in progress", true};
inline constexpr ProblemType unreadable_key{409, "UNREADABLE_IDEMPOTENCY_RECORD",
                                            "The record of the idempotency key cannot be read"};
inline constexpr ProblemType malformed_request{400, "MALFORMED_REQUEST", "The request is not valid HTTP"};
inline constexpr ProblemType body_too_large{413, "BODY_TOO_LARGE", "The body is too large"};
inline constexpr ProblemType headers_too_large{431, "HEADERS_TOO_LARGE", "The headers are too large"};
inline constexpr ProblemType unsupported_media_type{415, "UNSUPPORTED_MEDIA_TYPE",
                                                    "The content type or encoding is not supported"};
inline constexpr ProblemType idempotency_key_reused{422, "IDEMPOTENCY_KEY_REUSED",
                                                    "The idempotency key was used for another request"};
inline constexpr ProblemType too_many_sign_ins{429, "TOO_MANY_SIGN_INS", "Too many sign-ins have failed", true};
inline constexpr ProblemType quota_exceeded{429, "QUOTA_EXCEEDED", "A quota is used up", true};
inline constexpr ProblemType internal_error{500, "INTERNAL_ERROR", "Internal server error"};
inline constexpr ProblemType broker_cannot{501, "UNSUPPORTED_BY_BROKER", "The broker does not support this"};
inline constexpr ProblemType broker_failed{502, "BROKER_FAILED", "The broker failed to execute the request"};
inline constexpr ProblemType broker_unreachable{502, "BROKER_UNREACHABLE", "No endpoint of the broker can be reached"};
inline constexpr ProblemType overloaded{503, "OVERLOADED", "Too many requests are waiting", true};
inline constexpr ProblemType busy{503, "BUSY", "Others change the same records", true};
inline constexpr ProblemType store_unavailable{503, "STORE_UNAVAILABLE", "The store cannot be used now", true};
inline constexpr ProblemType outcome_unknown{503, "OUTCOME_UNKNOWN", "It is not known whether the request was executed",
                                             true};
inline constexpr ProblemType broker_timed_out{504, "BROKER_TIMED_OUT", "The broker did not answer in time"};

}  // namespace problems

inline constexpr std::string_view problem_content_type = "application/problem+json";

struct Problem {
  ProblemType type;
  std::string detail;
  std::vector<json::FieldError> errors;
  std::vector<broker::EndpointFailure> endpoints;              // that were tried in vain, in their order
  std::optional<int> current_revision = std::nullopt;          // of a draft
  std::optional<std::int64_t> current_version = std::nullopt;  // of a ticket
  std::string current_status = {};
  std::string rule = {};  // that refuses a reminder
  std::optional<base::TimePoint> allowed_from = std::nullopt;
  std::vector<std::pair<std::string, std::string>> headers;  // of the response
  std::string cause;                                         // for the log alone
  bool is_told = false;                                      // the log has it already, as one outage of many calls
};

// The member "errors" of an object that tells of the problem; none when no field is at fault.
void write_field_errors(json::Writer& json, const Problem& problem);

std::string to_json(const Problem& problem, std::string_view request_id);

// From the words of an error.
std::string as_sentence(std::string words);

tl::unexpected<Problem> refuse(const ProblemType& type, std::string detail);
// For one field, or parameter, or header.
tl::unexpected<Problem> refuse_field(std::string field, std::string rule);
// For fields that were noted; there must be one.
tl::unexpected<Problem> refuse_fields(const ProblemType& type, const json::FieldErrors& errors);

// Of an idempotency key.
tl::unexpected<Problem> refuse_key_in_progress();
tl::unexpected<Problem> refuse_key_reused();
tl::unexpected<Problem> refuse_unreadable_key();

// What an error of the outbox means to the caller. Those that are no fault of the caller keep their words for the log.
Problem problem_of(base::Error error, const ProblemType& absent);
// The same for the message service.
Problem problem_of(messages::Fault fault);
// And for reminders.
Problem problem_of(reminders::Refusal refusal);

// The outbox's answer as a handler passes it on. `absent` is what not_found means.
template <class T>
base::Result<T, Problem> answered(base::Result<T> answer, const ProblemType& absent = problems::email_not_found) {
  if (!answer) return base::propagate(problem_of(std::move(answer).error(), absent));
  if constexpr (std::is_void_v<T>)
    return {};
  else
    return *std::move(answer);
}

// The same for reminders.
template <class T>
base::Result<T, Problem> answered(reminders::OrRefusal<T> answer) {
  if (!answer) return base::propagate(problem_of(std::move(answer).error()));
  if constexpr (std::is_void_v<T>)
    return {};
  else
    return *std::move(answer);
}

}  // namespace postino::api
