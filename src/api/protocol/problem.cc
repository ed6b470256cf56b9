#include "api/protocol/problem.h"

#include "base/check.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "json/writer.h"
#include "store/retry.h"

namespace postino::api {

namespace {

using messages::FaultKind;

constexpr std::string_view retry_after_seconds = "1";

ProblemType type_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::invalid:
      return problems::invalid_request;
    case FaultKind::forbidden:
      return problems::forbidden;
    case FaultKind::no_such_queue:
      return problems::no_such_queue;
    case FaultKind::in_progress:
      return problems::idempotency_key_in_progress;
    case FaultKind::other_request:
      return problems::idempotency_key_reused;
    case FaultKind::unreadable_key:
      return problems::unreadable_key;
    case FaultKind::unsupported:
      return problems::broker_cannot;
    case FaultKind::unreachable:
      return problems::broker_unreachable;
    case FaultKind::broker:
      return problems::broker_failed;
    case FaultKind::exhausted:
      return problems::overloaded;
    case FaultKind::store:
      return problems::store_unavailable;
    case FaultKind::unknown:
      return problems::outcome_unknown;
    case FaultKind::timed_out:
      return problems::broker_timed_out;
    case FaultKind::internal:
      break;
  }
  return problems::internal_error;
}

ProblemType type_of(reminders::RefusalKind kind) {
  using enum reminders::RefusalKind;
  switch (kind) {
    case invalid:
      return problems::invalid_request;
    case unknown_customer:
      return problems::customer_not_found;
    case unknown_invoice:
      return problems::invoice_not_found;
    case unknown_template:
    case unknown_branding:
      return problems::template_not_found;
    case unknown_draft:
      return problems::draft_not_found;
    case unknown_reminder:
      return problems::reminder_not_found;
    case other_revision:
      return problems::other_revision;
    case wrong_state:
      return problems::wrong_reminder_state;
    case rule:
      return problems::reminder_rule;
    case stopped:
      return problems::reminders_stopped;
    case no_sender:
      return problems::no_sender;
    case same_person:
      return problems::same_person;
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

// What is wrong with the store or here is for the log alone.
bool is_for_the_log(FaultKind kind) { return kind == FaultKind::store || kind == FaultKind::internal; }

std::int64_t seconds_of(base::Milliseconds time) { return (time.count() + 999) / 1'000; }

std::string sentence(const json::FieldError& error) {
  return (error.field.empty() ? "The body" : error.field) + " " + error.rule;
}

}  // namespace

std::string as_sentence(std::string words) {
  if (words.empty()) return words;
  words.front() = base::upper(words.front());
  if (!words.ends_with('.')) words += '.';
  return words;
}

void write_field_errors(json::Writer& json, const Problem& problem) {
  if (problem.errors.empty()) return;
  json.key("errors").begin_array();
  for (const json::FieldError& error : problem.errors) {
    json.begin_object();
    json.key("field").string(error.field);
    json.key("rule").string(error.rule);
    json.end_object();
  }
  json.end_array();
}

std::string to_json(const Problem& problem, std::string_view request_id) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("type").string("urn:postino:problem:" + std::string(problem.type.code));
  json.key("title").string(problem.type.title);
  json.key("status").integer(problem.type.status);
  json.key("detail").string(problem.detail);
  json.key("code").string(problem.type.code);
  write_field_errors(json, problem);
  if (!problem.endpoints.empty()) {
    json.key("endpoints").begin_array();
    for (const broker::EndpointFailure& failure : problem.endpoints) {
      json.begin_object();
      json.key("endpoint").string(failure.endpoint);
      json.key("reason").string(failure.reason);
      json.end_object();
    }
    json.end_array();
  }
  if (problem.current_revision) json.key("current_revision").integer(*problem.current_revision);
  if (problem.current_version) json.key("current_version").integer(*problem.current_version);
  if (!problem.current_status.empty()) json.key("current_status").string(problem.current_status);
  if (!problem.rule.empty()) json.key("rule").string(problem.rule);
  if (problem.allowed_from) json.key("allowed_from").string(base::format_timestamp(*problem.allowed_from));
  json.key("request_id").string(request_id);
  json.end_object();
  return text;
}

tl::unexpected<Problem> refuse(const ProblemType& type, std::string detail) {
  Problem problem{.type = type, .detail = std::move(detail)};
  if (type.passes) problem.headers.emplace_back("Retry-After", retry_after_seconds);
  return tl::unexpected<Problem>(std::move(problem));
}

tl::unexpected<Problem> refuse_field(std::string field, std::string rule) {
  json::FieldErrors errors;
  errors.add(std::move(field), std::move(rule));
  return refuse_fields(problems::invalid_request, errors);
}

tl::unexpected<Problem> refuse_fields(const ProblemType& type, const json::FieldErrors& errors) {
  CHECK(!errors.empty());
  std::string detail = sentence(errors.list().front());
  const std::size_t others = errors.list().size() - 1;
  if (others > 0) detail += ", and " + std::to_string(others) + (others == 1 ? " more error" : " more errors");
  auto refusal = refuse(type, detail + ".");
  refusal.value().errors = errors.list();
  return refusal;
}

tl::unexpected<Problem> refuse_key_in_progress() {
  return refuse(problems::idempotency_key_in_progress, "Repeat the request later to get its response.");
}

tl::unexpected<Problem> refuse_key_reused() {
  return refuse(problems::idempotency_key_reused, "Use another idempotency key for a different request.");
}

tl::unexpected<Problem> refuse_unreadable_key() {
  return refuse(problems::unreadable_key,
                "Nothing was done. Whether an earlier request was executed is not known until an operator has looked.");
}

Problem problem_of(base::Error error, const ProblemType& absent) {
  switch (error.code) {
    case base::ErrorCode::invalid:
    case base::ErrorCode::malformed:
      return refuse(problems::invalid_request, as_sentence(std::move(error.message))).value();
    case base::ErrorCode::not_found: {
      if (store::is_of_missing_table(error)) {
        Problem problem = refuse(problems::store_unavailable, "The store lacks a table.").value();
        problem.cause = std::move(error.message);
        return problem;
      }
      Problem problem = refuse(absent, as_sentence(error.message)).value();
      if (absent.status >= first_server_error) problem.cause = std::move(error.message);
      return problem;
    }
    case base::ErrorCode::conflict:
      return refuse(problems::wrong_state, as_sentence(std::move(error.message))).value();
    case base::ErrorCode::exhausted:
    case base::ErrorCode::io: {
      Problem problem = refuse(problems::store_unavailable, "Try again in a moment.").value();
      problem.cause = std::move(error.message);
      return problem;
    }
    case base::ErrorCode::corrupt:
      break;
  }
  Problem problem =
      refuse(problems::internal_error, "The log of the server has details under this request id.").value();
  problem.cause = std::move(error.message);
  return problem;
}

Problem problem_of(messages::Fault fault) {
  json::FieldErrors errors;
  for (const json::FieldError& error : fault.fields) errors.add(error.field, error.rule);
  if (!errors.empty()) return refuse_fields(type_of(fault.kind), errors).value();
  if (fault.kind == FaultKind::in_progress) return refuse_key_in_progress().value();
  if (fault.kind == FaultKind::other_request) return refuse_key_reused().value();
  if (fault.kind == FaultKind::unreadable_key) return refuse_unreadable_key().value();
  if (is_for_the_log(fault.kind))
    return problem_of(
        {fault.kind == FaultKind::store ? base::ErrorCode::io : base::ErrorCode::corrupt, std::move(fault.message)},
        {});
  if (fault.kind == FaultKind::unknown) {
    Problem problem = refuse(problems::outcome_unknown,
                             "Messages may have been sent or taken. Repeat the request with the same idempotency key: "
                             "what is known to have been done is not done again.")
                          .value();
    problem.cause = std::move(fault.message);
    return problem;
  }
  Problem problem = refuse(type_of(fault.kind), as_sentence(fault.message)).value();
  problem.cause = std::move(fault.message);
  for (const broker::EndpointFailure& endpoint : fault.endpoints)
    problem.cause.append("; ").append(endpoint.endpoint).append(": ").append(endpoint.reason);
  problem.endpoints = std::move(fault.endpoints);
  problem.is_told = fault.is_told;
  if (fault.retry_after && problem.headers.empty())
    problem.headers.emplace_back("Retry-After", std::to_string(seconds_of(*fault.retry_after)));
  return problem;
}

Problem problem_of(reminders::Refusal refusal) {
  using enum reminders::RefusalKind;
  json::FieldErrors errors;
  for (const reminders::FieldFault& fault : refusal.faults) errors.add(fault.field, fault.rule);
  if (refusal.kind == invalid && !errors.empty()) return refuse_fields(problems::invalid_request, errors).value();
  // What ails the store is for the log alone.
  if (refusal.kind == unavailable) return problem_of(base::Error{base::ErrorCode::io, std::move(refusal.message)}, {});
  if (refusal.kind == outcome_unknown) {
    Problem problem = refuse(problems::outcome_unknown,
                             "It may have been done. Look, or repeat the request: what was done is not done again.")
                          .value();
    problem.cause = std::move(refusal.message);
    return problem;
  }
  Problem problem = refuse(type_of(refusal.kind), as_sentence(std::move(refusal.message))).value();
  problem.errors = errors.list();
  problem.current_revision = refusal.current_revision;
  if (refusal.decision && !refusal.decision->is_allowed()) {
    problem.rule = name_of(refusal.decision->reason);
    problem.allowed_from = refusal.decision->allowed_from;
  }
  return problem;
}

}  // namespace postino::api
