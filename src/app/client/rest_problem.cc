#include "app/client/rest_problem.h"

#include "api/protocol/problem.h"
#include "api/protocol/schemas.h"
#include "app/client/answer.h"
#include "http/message.h"

namespace postino::app {

namespace {

constexpr const char* how_to_give_a_key = "with --key SECRET, or in the environment as POSTINO_API_KEY";

base::ErrorCode error_code_of(int status) {
  switch (status) {
    case 404:
      return base::ErrorCode::not_found;
    case 409:
      return base::ErrorCode::conflict;
    case 503:
      return base::ErrorCode::exhausted;
    default:
      return status >= 400 && status < 500 ? base::ErrorCode::invalid : base::ErrorCode::io;
  }
}

// Problems whose detail says all, so that the title would say it twice.
bool speaks_by_detail(const std::string& code) {
  return code == api::problems::email_not_found.code || code == api::problems::wrong_state.code;
}

// "The title: the detail", as far as both are there and of use, without the full stop.
std::string sentence_of(const AnswerObject& problem, int status) {
  std::string title = problem.text("title");
  std::string detail = problem.text("detail");
  if (status == 401) detail.clear();  // it is for programs: which header or request to send
  if (!detail.empty() && speaks_by_detail(problem.text("code"))) title.clear();
  std::string sentence = title + (title.empty() || detail.empty() ? "" : ": ") + detail;
  while (sentence.ends_with('.')) sentence.pop_back();
  return sentence;
}

std::string rule_of(const AnswerObject& error, const FieldName& name_of_field) {
  std::string field = error.text("field");
  if (name_of_field) field = name_of_field(field);
  return (field.empty() ? "the request" : field) + " " + error.text("rule");
}

std::string rules_of(const std::vector<AnswerObject>& errors, const FieldName& name_of_field) {
  if (errors.size() == 1) return rule_of(errors.front(), name_of_field);
  std::string text = "several fields are invalid:";
  for (const AnswerObject& error : errors) text += "\n  " + rule_of(error, name_of_field);
  return text;
}

// Of a broker, each with why it could not be reached.
std::string endpoints_of(const std::vector<AnswerObject>& endpoints) {
  std::string text;
  for (const AnswerObject& endpoint : endpoints)
    text += "\n  " + endpoint.text("endpoint") + ": " + endpoint.text("reason");
  return text;
}

// What can be done about it, as far as the kind of problem tells.
std::string advice_for(int status, const std::string& code) {
  if (code == api::problems::sign_in_refused.code) return "";
  if (code == api::problems::session_ended.code) return ". Sign in again with: postino sessions sign-in";
  if (status == 401) return std::string(". Give one ") + how_to_give_a_key;
  if (status == 403 && (code.empty() || code == api::problems::forbidden.code))
    return std::string(". Give another API key ") + how_to_give_a_key;
  return "";
}

std::string status_line(int status) { return std::to_string(status) + " " + std::string(http::reason_phrase(status)); }

}  // namespace

base::Error describe_problem(const http::ClientResponse& response, const FieldName& name_of_field) {
  const base::ErrorCode code = error_code_of(response.status);
  std::string message;
  std::string problem_code;
  if (const auto answer = Answer::parse(api::schema_named("Problem"), response.body)) {
    const AnswerObject problem = answer->root();
    const auto errors = problem.objects("errors");
    message = errors.empty() ? sentence_of(problem, response.status) : rules_of(errors, name_of_field);
    problem_code = problem.text("code");
    const std::string request_id = problem.text("request_id");
    if (response.status >= 500 && !request_id.empty()) message += " (request " + request_id + ")";
    message += endpoints_of(problem.objects("endpoints"));
  }
  if (message.empty()) message = "the server answered " + status_line(response.status) + ". Is --url right?";
  return {code, message + advice_for(response.status, problem_code)};
}

}  // namespace postino::app
