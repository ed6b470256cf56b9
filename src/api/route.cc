#include "api/route.h"

#include <algorithm>
#include <iterator>

#include "api/keyed_requests.h"

namespace postino::api {

namespace {

std::vector<Answer> common_answers(const Route& route) {
  std::vector<Answer> answers{
      {400, "The request breaks a rule: `errors` has the fields, parameters or headers, each with the rule."},
      {500, "Something went wrong here."},
  };
  if (route.role != Role::anyone) {
    answers.push_back({401, "The API key is missing or wrong."});
    answers.push_back({403, "The API key does not allow this, or the request comes from where none may come from."});
  }
  if (!route.direct) answers.push_back({503, "Too much waits already, or the store does not answer: try again later."});
  if (!route.body.contents.empty()) {
    answers.push_back({413, "The body is too large."});
    answers.push_back({415, "The body is of a type that is not taken here."});
  }
  return answers;
}

std::vector<Route> gather_routes() {
  std::vector<Route> routes;
  for (const auto group : {acceptance_routes, email_routes, change_routes, callback_routes, bounce_routes,
                           suppression_routes, mailbox_routes, message_routes, description_routes})
    std::ranges::move(group(), std::back_inserter(routes));
  for (Route& route : routes)
    if (takes_key(route)) describe_key(route);
  return routes;
}

}  // namespace

std::vector<Answer> all_answers(const Route& route) {
  std::vector<Answer> answers = route.answers;
  for (Answer& common : common_answers(route))
    if (std::ranges::find(answers, common.status, &Answer::status) == answers.end())
      answers.push_back(std::move(common));
  std::ranges::sort(answers, {}, &Answer::status);
  return answers;
}

const std::vector<Route>& all_routes() {
  static const std::vector<Route> routes = gather_routes();
  return routes;
}

Parameter email_id_parameter() {
  return {"id", Place::path, R"({"type":"string","format":"uuid"})", "The id of the e-mail."};
}

Parameter cursor_parameter() {
  return {"cursor", Place::query, R"({"type":"string"})",
          "Where the page begins: `cursor` of the answer before, with the other parameters unchanged. The first page "
          "when absent or empty."};
}

Parameter limit_parameter() {
  return {"limit", Place::query, R"({"type":"integer","minimum":1,"maximum":100,"default":50})", "How many at most."};
}

Parameter idempotency_key_parameter() {
  return {
      "Idempotency-Key", Place::header, R"({"type":"string","minLength":1,"maxLength":255})",
      "Stands for this request: printable ASCII, plain or as a quoted string. Sent again, the request is not carried "
      "out again, and gets the same answer, with `Idempotent-Replayed: true`."};
}

Parameter idempotency_expiry_parameter() {
  return {"Idempotency-Expiry-Seconds", Place::header, R"({"type":"integer","minimum":60,"maximum":2592000})",
          "How long the key is remembered, in place of the configured time."};
}

}  // namespace postino::api
