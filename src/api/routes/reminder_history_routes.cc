// What was sent, by which rules, how much of it, and who decided.
#include "api/routes/reminder_json.h"
#include "api/routes/reminder_parameters.h"
#include "api/routes/reminder_requests.h"
#include "api/routes/route_groups.h"

namespace postino::api {

namespace {

base::Result<reminders::HistoryRequest, Problem> history_request(const Call& call) {
  reminders::HistoryRequest request;
  TRY(request.reminder_type, type_in_query(call));
  TRY(const TimeRange range, call.time_range());
  request.since = range.since;
  request.until = range.until;
  TRY(request.page, reminder_page(call));
  return request;
}

base::Result<bool, Problem> asks_for_failed(const Call& call) {
  const std::string* const text = call.query.find("status");
  if (text == nullptr || *text == "sent") return false;
  if (*text == "failed") return true;
  return refuse_field("status", "must be sent or failed");
}

// Of a customer that we know, or of whom another program has drafted or sent something. `failed`: only those, or only
// the others.
Outcome history_of(const Call& call, reminders::Reminders& service, const std::string& customer_id,
                   const reminders::HistoryRequest& request, std::optional<bool> failed = std::nullopt,
                   std::span<const NamedThing> named = {}) {
  const std::string& tenant = call.caller.tenant;
  TRY(auto page, answered(service.history().of_customer(customer_id, request, tenant)));
  if (page.entries.empty() && page.cursor.empty())
    TRY_VOID(answered_about(named, service.customers().check_known(customer_id, tenant)));
  if (failed)
    std::erase_if(page.entries, [&](const reminders::SentReminder& sent) { return sent.counts() == *failed; });
  return json_reply(page_json(page));
}

Outcome list_sent(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const bool failed, asks_for_failed(call));
  TRY(const reminders::HistoryRequest request, history_request(call));
  if (const std::string customer = call.text("customer_id"); !customer.empty()) {
    const bool is_named = call.query.find("status") != nullptr;
    return history_of(call, *service, customer, request, is_named ? std::optional(failed) : std::nullopt,
                      named_customer);
  }
  TRY(const auto page, answered(service->history().sent(request, failed, call.caller.tenant)));
  return json_reply(page_json(page));
}

Outcome list_history(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const reminders::HistoryRequest request, history_request(call));
  return history_of(call, *service, call.path_parameter("id"), request);
}

Outcome show_sent(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const reminders::SentReminder sent,
      answered(
          service->history().find(call.path_parameter("id"), call.path_parameter("reminder"), call.caller.tenant)));
  return json_reply(thing_json(sent));
}

Outcome list_rules(Call& call) {
  TRY(auto* service, reminders_of(call));
  return json_reply(list_json(service->rules().all()));
}

Outcome check_rules(Call& call) {
  TRY(auto* service, reminders_of(call));
  json::FieldErrors errors;
  for (const char* const name : {"customer_id", "reminder_type"})
    if (call.text(name).empty()) errors.add(name, "is required");
  if (!errors.empty()) return refuse_fields(problems::invalid_request, errors);
  TRY(const auto explanation,
      answered_about(named_customer, service->drafts().explain(call.text("customer_id"), call.text("reminder_type"),
                                                               call.caller.tenant)));
  return json_reply(thing_json(explanation, call.services.clock.now()));
}

Outcome show_summary(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const reminders::DaySummary summary, answered(service->summary().of_day(call.text("date"), call.caller.tenant)));
  return json_reply(thing_json(summary));
}

Outcome list_audit(Call& call) {
  TRY(auto* service, reminders_of(call));
  reminders::AuditRequest request{call.text("date"), call.text("subject"), {}};
  TRY(request.page, reminder_page(call));
  TRY(const auto page, answered(service->audit().list(request, call.caller.tenant)));
  return json_reply(page_json(page));
}

std::vector<Parameter> history_parameters(std::vector<Parameter> first) {
  first.push_back(type_filter());
  for (Parameter& parameter : range_parameters("reminders that were sent")) first.push_back(std::move(parameter));
  first.push_back(cursor_parameter());
  first.push_back(limit_parameter());
  return first;
}

std::vector<Route> sent_routes() {
  const Parameter status{"status",
                         ParameterPlace::query,
                         {.type = "string",
                          .description = "Those that were sent or wait to be, or those that failed.",
                          .choices = {"sent", "failed"},
                          .default_value = R"("sent")"}};
  return {
      {.operation = {.id = "listSentReminders",
                     .method = "GET",
                     .path = "/reminders/sent",
                     .right = Right::read_reminders,
                     .group = "Reminders",
                     .summary = "List reminders that were sent, newest first",
                     .description =
                         "Of all customers, or the history of one: with `customer_id` and without `status` also what "
                         "failed. A page can have fewer elements than `limit`, or none, and not be the last: go on as "
                         "long as `cursor` is not null.",
                     .parameters = history_parameters({status, customer_filter()}),
                     .answers = {{200, "A page of reminders.", {{json_content_type, "SentReminderPage"}}},
                                 {404,
                                  "No customer has this id (CUSTOMER_NOT_FOUND), or there are no reminders on this "
                                  "server (NO_REMINDERS)."}},
                     .former_path = "/email-history"},
       .handle = list_sent,
       .large_answer = true},
      {.operation = {.id = "listCustomerHistory",
                     .method = "GET",
                     .path = "/reminders/customers/{id}/history",
                     .right = Right::read_reminders,
                     .group = "Reminders",
                     .summary = "List the reminders of a customer, newest first",
                     .parameters = history_parameters({customer_id_parameter()}),
                     .answers = {{200, "A page of reminders.", {{json_content_type, "SentReminderPage"}}},
                                 no_customer()}},
       .handle = list_history,
       .large_answer = true},
      {.operation = {.id = "getSentReminder",
                     .method = "GET",
                     .path = "/reminders/customers/{id}/history/{reminder}",
                     .right = Right::read_reminders,
                     .group = "Reminders",
                     .summary = "Show a reminder, and what has become of it",
                     .parameters = {customer_id_parameter(),
                                    {"reminder",
                                     ParameterPlace::path,
                                     {.type = "string",
                                      .description = "The id of the reminder.",
                                      .example = R"("20250921_150000_first")"}}},
                     .answers = {{200, "The reminder.", {{json_content_type, "SentReminder"}}},
                                 {404, "The customer or the reminder does not exist."}}},
       .handle = show_sent},
  };
}

std::vector<Route> oversight_routes() {
  return {
      {.operation = {.id = "listRules",
                     .method = "GET",
                     .path = "/reminders/rules",
                     .right = Right::see_figures,
                     .group = "Reminders",
                     .summary = "List the rules for reminders",
                     .answers = {{200, "The rules, as they are configured.", {{json_content_type, "RuleList"}}}}},
       .handle = list_rules},
      {.operation =
           {.id = "checkRules",
            .method = "GET",
            .path = "/reminders/check",
            .right = Right::read_reminders,
            .group = "Reminders",
            .summary = "Tell whether a customer could get a reminder now",
            .description = "A dry run: nothing is drafted or sent.",
            .parameters =
                {{"customer_id", ParameterPlace::query, {.type = "string", .description = "The customer."}, true},
                 {"reminder_type",
                  ParameterPlace::query,
                  {.type = "string", .description = "The type of the reminder."},
                  true}},
            .answers = {{200, "The decision, with the records that it rests on.", {{json_content_type, "Explanation"}}},
                        {404, "No customer has this id."}}},
       .handle = check_rules},
      {.operation = {.id = "getSummary",
                     .method = "GET",
                     .path = "/reminders/summary",
                     .right = Right::see_figures,
                     .group = "Reminders",
                     .summary = "Count what happened on a day",
                     .parameters = {date_parameter()},
                     .answers = {{200, "The counts.", {{json_content_type, "DaySummary"}}}}},
       .handle = show_summary},
      {.operation = {.id = "listAuditEvents",
                     .method = "GET",
                     .path = "/reminders/audit",
                     .right = Right::audit,
                     .group = "Reminders",
                     .summary = "List who decided what on a day, newest first",
                     .description = "Nothing changes or removes these events.",
                     .parameters = {date_parameter(),
                                    {"subject",
                                     ParameterPlace::query,
                                     {.type = "string",
                                      .description = "Only events about what begins so, such as drafts/ or "
                                                     "customers/cust_001."}},
                                    cursor_parameter(),
                                    limit_parameter()},
                     .answers = {{200, "A page of events.", {{json_content_type, "AuditEventPage"}}}}},
       .handle = list_audit,
       .large_answer = true},
  };
}

}  // namespace

std::vector<Route> reminder_history_routes() {
  std::vector<Route> routes = sent_routes();
  std::ranges::move(oversight_routes(), std::back_inserter(routes));
  return with_reminder_answers(std::move(routes));
}

}  // namespace postino::api
