// Parameters and answers that many routes of reminders share.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "api/protocol/route.h"

namespace postino::api {

inline Parameter customer_id_parameter() {
  return {"id",
          ParameterPlace::path,
          {.type = "string", .description = "The id of the customer.", .example = R"("cust_001")"}};
}

inline Parameter customer_filter() {
  return {"customer_id", ParameterPlace::query, {.type = "string", .description = "Only of this customer."}};
}

inline Parameter type_filter() {
  return {"reminder_type",
          ParameterPlace::query,
          {.type = "string", .description = "Only of this type, whether there is a rule for it or not."}};
}

inline Parameter date_parameter() {
  return {"date",
          ParameterPlace::query,
          {.type = "string", .description = "A day in UTC; today by default.", .format = "date"}};
}

// A call about reminders: reading needs the right to read, changing the right to operate. Parameters and answers are
// added by the routes that have them.
inline Operation reminder_operation(std::string_view id, std::string_view method, std::string_view path,
                                    std::string_view summary, std::string_view description,
                                    std::vector<Parameter> parameters, std::vector<AnswerDescription> answers) {
  return {.id = id,
          .method = method,
          .path = path,
          .right = method == "GET" ? Right::read_reminders : Right::operate,
          .group = "Reminders",
          .summary = summary,
          .description = description,
          .parameters = std::move(parameters),
          .answers = std::move(answers)};
}

inline AnswerDescription no_customer() { return {404, "No customer has this id.", {}}; }

// With those that every route about reminders has.
inline std::vector<Route> with_reminder_answers(std::vector<Route> routes) {
  for (Route& route : routes) {
    std::vector<AnswerDescription>& answers = route.operation.answers;
    for (const AnswerDescription& answer :
         {AnswerDescription{404, "There are no reminders on this server (code NO_REMINDERS).", {}},
          AnswerDescription{409, "A record cannot be read (`detail` says which and why).", {}}})
      if (std::ranges::find(answers, answer.status, &AnswerDescription::status) == answers.end())
        answers.push_back(answer);
    std::ranges::sort(answers, {}, &AnswerDescription::status);
  }
  return routes;
}

}  // namespace postino::api
