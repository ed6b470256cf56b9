#include "api/route.h"

#include <algorithm>
#include <iterator>

#include "api/keyed_requests.h"
#include "api/limits.h"
#include "idempotency/key.h"

namespace postino::api {

namespace {

std::vector<AnswerDescription> common_answers(const Route& route) {
  static const std::string too_large = "The body has more than " + std::to_string(Limits::body_bytes >> 20) + " MiB.";
  std::vector<AnswerDescription> answers{
      {400, "The request is invalid: `errors` lists the fields, parameters or headers, each with the rule."},
      {500, "Internal server error."},
  };
  if (route.operation.role != Role::anyone) {
    answers.push_back({401, "The API key is missing or wrong."});
    answers.push_back({403, "The API key does not allow this, or requests from this host or origin are refused."});
  }
  if (!route.direct)
    answers.push_back({503, "Too many requests are waiting, or the store does not answer. Try again later."});
  if (!route.operation.body.contents.empty()) {
    answers.push_back({413, too_large});
    answers.push_back({415, "The content type is not supported."});
  }
  return answers;
}

void add_common_answers(Route& route) {
  std::vector<AnswerDescription>& answers = route.operation.answers;
  for (AnswerDescription& common : common_answers(route))
    if (std::ranges::find(answers, common.status, &AnswerDescription::status) == answers.end())
      answers.push_back(std::move(common));
  std::ranges::sort(answers, {}, &AnswerDescription::status);
}

std::vector<Route> gather_routes() {
  std::vector<Route> routes;
  for (const auto group : {acceptance_routes, email_routes, change_routes, callback_routes, bounce_routes,
                           suppression_routes, mailbox_routes, message_routes, description_routes})
    std::ranges::move(group(), std::back_inserter(routes));
  for (Route& route : routes) {
    if (takes_key(route)) describe_key(route);
    add_common_answers(route);
  }
  return routes;
}

}  // namespace

const std::vector<Route>& all_routes() {
  static const std::vector<Route> routes = gather_routes();
  return routes;
}

Parameter email_id_parameter() {
  return {"id", ParameterPlace::path, {.type = "string", .description = "The id of the e-mail.", .format = "uuid"}};
}

Parameter cursor_parameter() {
  return {"cursor",
          ParameterPlace::query,
          {.type = "string",
           .description = "`cursor` of the previous response, with the other parameters unchanged. If absent or empty, "
                          "the first page."}};
}

Parameter limit_parameter() {
  return {"limit",
          ParameterPlace::query,
          {.type = "integer",
           .description = "Maximum number of elements.",
           .least = 1,
           .most = Limits::page_size,
           .default_value = std::to_string(Limits::usual_page_size)}};
}

Parameter idempotency_key_parameter() {
  // Quotes and backslashes are escaped in a quoted string, and not counted.
  static const std::string pattern = [] {
    const std::string most = std::to_string(idempotency::longest_key);
    const std::string plain = "[ !#-~][ -~]{0," + std::to_string(idempotency::longest_key - 1) + "}";
    const std::string quoted = R"x("([ !#-\[\]-~]|\\["\\]){1,)x" + most + R"x(}")x";
    return "^(" + plain + "|" + quoted + ")$";
  }();
  return {"Idempotency-Key",
          ParameterPlace::header,
          {.type = "string",
           .description =
               "Identifies this request: up to " + std::to_string(idempotency::longest_key) +
               " characters of printable ASCII, plain or as a quoted string. A repeated request with the same key is "
               "not executed again; it gets the same response, with `Idempotent-Replayed: true`.",
           .pattern = pattern}};
}

Parameter idempotency_expiry_parameter() {
  return {"Idempotency-Expiry-Seconds",
          ParameterPlace::header,
          {.type = "integer",
           .description = "How long the key is remembered, instead of the configured time.",
           .least = Limits::least_key_life_seconds,
           .most = Limits::most_key_life_seconds}};
}

const Operation* find_operation(std::string_view id) {
  for (const Route& route : all_routes())
    if (route.operation.id == id) return &route.operation;
  return nullptr;
}

}  // namespace postino::api
