#include "api/route_list.h"

#include <algorithm>
#include <iterator>

#include "api/keyed_requests.h"
#include "api/protocol/limits.h"
#include "api/routes/route_groups.h"

namespace postino::api {

namespace {

std::vector<AnswerDescription> common_answers(const Route& route) {
  static const std::string too_large = "The body has more than " + std::to_string(Limits::body_bytes >> 20) + " MiB.";
  std::vector<AnswerDescription> answers{
      {400, "The request is invalid: `errors` lists the fields, parameters or headers, each with the rule."},
      {500, "Internal server error."},
  };
  if (route.operation.right != Right::none) {
    answers.push_back({401, "The API key or the token of a session is missing or wrong."});
    answers.push_back({429,
                       "A quota of the key or of its tenant is used up (QUOTA_EXCEEDED). Retry-After says when to try "
                       "again."});
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
  for (const auto group : {acceptance_routes,
                           email_routes,
                           change_routes,
                           callback_routes,
                           bounce_routes,
                           suppression_routes,
                           mailbox_routes,
                           message_routes,
                           draft_routes,
                           reminder_history_routes,
                           customer_routes,
                           invoice_routes,
                           reminder_template_routes,
                           ticket_routes,
                           ticket_change_routes,
                           ticket_record_routes,
                           attachment_routes,
                           capacity_routes,
                           figure_routes,
                           session_routes,
                           audit_routes,
                           backup_routes,
                           key_routes,
                           description_routes})
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

const Operation* find_operation(std::string_view id) {
  for (const Route& route : all_routes())
    if (route.operation.id == id) return &route.operation;
  return nullptr;
}

}  // namespace postino::api
