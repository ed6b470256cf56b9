// Customers who may get reminders.
#include "api/routes/reminder_json.h"
#include "api/routes/reminder_parameters.h"
#include "api/routes/reminder_requests.h"
#include "api/routes/route_groups.h"

namespace postino::api {

namespace {

Outcome list_customers(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const reminders::PageRequest page, reminder_page(call));
  TRY(const auto customers, answered(service->customers().list(page, call.caller.tenant)));
  return json_reply(page_json(customers));
}

Outcome list_late_payers(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const reminders::PageRequest page, reminder_page(call));
  TRY(const auto customers, answered(service->customers().late_payers(page, call.caller.tenant)));
  return json_reply(page_json(customers));
}

Outcome list_overdue(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const reminders::PageRequest page, reminder_page(call));
  TRY(const auto overdue, answered(service->customers().all_overdue(page, call.caller.tenant)));
  return json_reply(page_json(overdue, call.services.clock.now()));
}

Outcome show_customer(Call& call) {
  TRY(auto* service, reminders_of(call));
  const std::string& id = call.path_parameter("id");
  TRY(const auto customer, answered(service->customers().find(id, call.caller.tenant)));
  TRY(const auto last, answered(service->customers().last_reminders(id, call.caller.tenant)));
  return json_reply(thing_json(customer, last));
}

Outcome show_overdue(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const auto overdue, answered(service->customers().overdue(call.path_parameter("id"), call.caller.tenant)));
  return json_reply(thing_json(overdue, call.services.clock.now()));
}

Outcome put_customer(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const auto wanted, read_customer(call.request.body, call.path_parameter("id")));
  TRY(const auto customer, answered(service->customers().put(wanted, actor_of(call))));
  return json_reply(thing_json(customer));
}

Outcome customer_again(Call& call, const std::string& /*told_of*/) {
  TRY(auto* service, reminders_of(call));
  TRY(const auto customer, answered(service->customers().find(call.path_parameter("id"), call.caller.tenant)));
  return json_reply(thing_json(customer));
}

Outcome stopping_again(Call& call, const std::string& told_of) {
  TRY(auto* service, reminders_of(call));
  TRY(auto customer, answered(service->customers().find(call.path_parameter("id"), call.caller.tenant)));
  return json_reply(thing_json(reminders::Stopping<reminders::Customer>{std::move(customer), read_told(told_of)}));
}

// Of what stops reminders.
Reply stopping_reply(const reminders::Stopping<reminders::Customer>& customer) {
  Reply reply = json_reply(thing_json(customer));
  reply.told_of = told_of(customer.recalled);
  return reply;
}

Outcome opt_out(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const std::string reason, call.reason());
  TRY(const auto customer, answered(service->customers().opt_out(call.path_parameter("id"), reason, actor_of(call))));
  return stopping_reply(customer);
}

Outcome opt_in(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY_VOID(call.no_fields());
  TRY(const auto customer, answered(service->customers().opt_in(call.path_parameter("id"), actor_of(call))));
  return json_reply(thing_json(customer));
}

Outcome note_complaint(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const std::string reason, call.reason());
  TRY(const auto customer, answered(service->customers().complain(call.path_parameter("id"), reason, actor_of(call))));
  return stopping_reply(customer);
}

Outcome export_customer(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(std::string text, answered(service->erasure().export_customer(call.path_parameter("id"), actor_of(call))));
  return json_reply(std::move(text));
}

// The sandbox is none of the reminders' business. What it has must be told all the same.
void name_sandbox(const Call& call, reminders::ErasureReport& report) {
  if (call.services.mailbox == nullptr) return;
  const auto sent =
      std::ranges::find(report.kept, reminders::ErasureReport::sent_emails, &reminders::ErasureReport::Line::what);
  if (sent == report.kept.end()) return;
  report.kept.push_back({"entries of the sandbox's mailbox", sent->count,
                         "they have address and subject, unless the mailbox was cleared; DELETE /mailbox clears it"});
}

// Nor are the answers that are kept for callers who repeat their requests.
void name_request_keys(reminders::ErasureReport& report) {
  report.kept.push_back({"answers under idempotency keys", 0,
                         "so that a request that is repeated changes nothing; they have ids alone, and expire with "
                         "their keys"});
}

Outcome erase_customer(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const bool also_unpaid, read_erasure(call.request.body));
  TRY(auto report, answered(service->erasure().erase(call.path_parameter("id"), also_unpaid, actor_of(call))));
  name_sandbox(call, report);
  name_request_keys(report);
  return json_reply(thing_json(report));
}

Operation customer_operation(std::string_view id, std::string_view method, std::string_view path,
                             std::string_view summary, std::string_view description = "") {
  return reminder_operation(id, method, path, summary, description, {customer_id_parameter()},
                            {{200, "The customer.", {{json_content_type, "Customer"}}}, no_customer()});
}

Route changing(Operation operation, std::string_view schema, Outcome (*handle)(Call& call),
               Outcome (*again)(Call& call, const std::string& told_of) = nullptr) {
  operation.body = {{{json_content_type, schema}}, false};
  return {.operation = std::move(operation), .handle = handle, .again = again};
}

Operation listing_operation(std::string_view id, std::string_view path, std::string_view summary,
                            std::string_view schema, std::string_view description = "") {
  return reminder_operation(id, "GET", path, summary, description, {cursor_parameter(), limit_parameter()},
                            {{200, "A page.", {{json_content_type, schema}}}});
}

std::vector<Route> reading_customers() {
  Operation overdue = customer_operation("getOverdue", "GET", "/reminders/customers/{id}/overdue",
                                         "Show the overdue invoices of a customer");
  overdue.answers.front() = {200, "What is overdue.", {{json_content_type, "Overdue"}}};
  return {
      {.operation =
           listing_operation("listCustomers", "/reminders/customers", "List customers by their ids", "CustomerPage"),
       .handle = list_customers,
       .large_answer = true},
      {.operation = listing_operation("listOverdue", "/reminders/overdue",
                                      "List customers with overdue invoices, the longest overdue first", "OverduePage",
                                      "An invoice is overdue when it is not paid and the day that it was due is over, "
                                      "in UTC. A customer occurs once on a page."),
       .handle = list_overdue,
       .large_answer = true},
      {.operation =
           listing_operation("listLatePayers", "/reminders/late-payers", "List customers who pay late", "CustomerPage",
                             "Those who have paid three or more invoices more than seven days late."),
       .handle = list_late_payers,
       .large_answer = true},
      {.operation = customer_operation("getCustomer", "GET", "/reminders/customers/{id}", "Show a customer"),
       .handle = show_customer},
      {.operation = std::move(overdue), .handle = show_overdue},
  };
}

std::vector<Route> changing_customers() {
  Operation put = customer_operation("putCustomer", "PUT", "/reminders/customers/{id}", "Add or change a customer",
                                     "What the customer has decided stays, and so do the counts.");
  put.body = {{{json_content_type, "CustomerDetails"}}, true};
  put.answers = {{200, "The customer.", {{json_content_type, "Customer"}}}};
  return {
      {.operation = std::move(put), .handle = put_customer},
      changing(customer_operation(
                   "optOut", "POST", "/reminders/customers/{id}/opt-out", "Note that a customer wants no reminders",
                   "No reminder is approved any more, also if its draft was made before. Those that were approved "
                   "before and wait in the outbox are cancelled (`cancelled_reminders`); one that is being sent at "
                   "this moment may still go out (`reminders_being_sent`)."),
               "Reason", opt_out, stopping_again),
      changing(customer_operation(
                   "optIn", "POST", "/reminders/customers/{id}/opt-in", "Note that a customer may get reminders again",
                   "Bounces and complaints are forgotten as well, so that they do not stop reminders any "
                   "more."),
               "Nothing", opt_in, customer_again),
      changing(customer_operation("noteComplaint", "POST", "/reminders/customers/{id}/complaint",
                                  "Note that a customer has complained",
                                  "A complaint stops reminders as an opt-out does, also those that wait in the "
                                  "outbox."),
               "Reason", note_complaint, stopping_again),
  };
}

std::vector<Route> erasure_routes() {
  Operation exported = customer_operation("exportCustomer", "GET", "/reminders/customers/{id}/export",
                                          "Export everything about a customer",
                                          "Profile, invoices, drafts, reminders and audit events. The audit notes it.");
  exported.right = Right::audit;
  exported.answers.front() = {200, "Everything.", {{json_content_type, "CustomerExport"}}};
  Operation erased = customer_operation(
      "eraseCustomer", "POST", "/reminders/customers/{id}/erase", "Erase the data of a customer",
      "Reminders that have not gone out are cancelled. Records of reminders stay for as long as the "
      "law demands, without "
      "name, address and text. If the call fails midway it can be repeated; otherwise the server goes on "
      "with it after a minute.");
  erased.answers = {{200, "What was removed, and what stays and why.", {{json_content_type, "ErasureReport"}}},
                    no_customer(),
                    {409, "The customer has unpaid invoices (WRONG_REMINDER_STATE), and `also_unpaid` is not true."}};
  Route erasure = changing(std::move(erased), "Erasure", erase_customer);
  erasure.audited = Audited::always;
  return {
      {.operation = std::move(exported), .handle = export_customer, .large_answer = true, .audited = Audited::always},
      std::move(erasure)};
}

}  // namespace

std::vector<Route> customer_routes() {
  std::vector<Route> routes = reading_customers();
  std::ranges::move(changing_customers(), std::back_inserter(routes));
  std::ranges::move(erasure_routes(), std::back_inserter(routes));
  return with_reminder_answers(std::move(routes));
}

}  // namespace postino::api
