#include "api/problem.h"

#include "base/check.h"
#include "base/text.h"
#include "json/writer.h"

namespace postino::api {

namespace {

constexpr std::string_view retry_after_seconds = "1";

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

std::string to_json(const Problem& problem, std::string_view request_id) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("type").string("urn:postino:problem:" + std::string(problem.type.code));
  json.key("title").string(problem.type.title);
  json.key("status").integer(problem.type.status);
  json.key("detail").string(problem.detail);
  json.key("code").string(problem.type.code);
  if (!problem.errors.empty()) {
    json.key("errors").begin_array();
    for (const json::FieldError& error : problem.errors) {
      json.begin_object();
      json.key("field").string(error.field);
      json.key("rule").string(error.rule);
      json.end_object();
    }
    json.end_array();
  }
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
  json.key("request_id").string(request_id);
  json.end_object();
  return text;
}

tl::unexpected<Problem> refuse(const ProblemType& type, std::string detail) {
  Problem problem{.type = type, .detail = std::move(detail)};
  if (type.status == problems::overloaded.status || type.code == problems::idempotency_key_in_progress.code)
    problem.headers.emplace_back("Retry-After", retry_after_seconds);
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

Problem problem_of(base::Error error, const ProblemType& absent) {
  switch (error.code) {
    case base::ErrorCode::invalid:
    case base::ErrorCode::malformed:
      return refuse(problems::invalid_request, as_sentence(std::move(error.message))).value();
    case base::ErrorCode::not_found:
      return refuse(absent, as_sentence(std::move(error.message))).value();
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

}  // namespace postino::api
