// The shapes of what is said about customers and invoices.
#include "api/protocol/schemas.h"
#include "api/routes/reminder_requests.h"
#include "api/routes/schema_parts.h"

namespace postino::api {

namespace {

using enum Presence;

Schema customer_line(std::size_t most, std::string description, std::string_view format = "") {
  return {.type = "string",
          .description = std::move(description),
          .format = format,
          .pattern = without_control_characters,
          .most = limit_of(most)};
}

Schema amount(std::string description) {
  return {.type = "string",
          .description = std::move(description) + " An exact decimal of at most 18 digits.",
          .pattern = R"(^[0-9]+(\.[0-9]+)?$)",
          .most = limit_of(ReminderLimits::amount_bytes),
          .example = R"("1500.00")"};
}

Schema currency() {
  return {.type = "string",
          .description = "Three letters, as in ISO 4217.",
          .pattern = "^[A-Z]{3}$",
          .example = R"("EUR")"};
}

Schema day(std::string description) {
  return {.type = "string", .description = std::move(description), .format = "date"};
}

// Of answers to what may stop reminders.
std::vector<Property> with_recalled(std::vector<Property> properties) {
  const std::string where = " Only in answers to what may stop reminders.";
  const auto add = [&](std::string_view name, std::string description) {
    properties.push_back({name, list_of(text(), std::move(description) + where)});
  };
  add("cancelled_reminders", "Ids of reminders that were approved before and have been cancelled now.");
  add("reminders_perhaps_sent",
      "Ids of reminders that have been cancelled now, after an attempt whose outcome is not known: the customer may "
      "have got them, and they go on counting for the rules.");
  add("reminders_being_sent", "Ids of reminders that may still go out, because they are being sent at this moment.");
  add("reminders_not_cancelled",
      "Ids of reminders that could not be cancelled yet. They are not sent, and are cancelled as soon as "
      "possible.");
  properties.push_back({"why_not_cancelled", text("Why not; also when it could not be found out which ones wait.")});
  return properties;
}

Schema customer() {
  const Schema last{.type = "object",
                    .properties = {{"reminder_type", text(), required},
                                   {"sent_date", time(), required},
                                   {"record", text("Id of the reminder."), required}}};
  return {.type = "object",
          .properties = with_recalled(
              {{"customer_id", text(), required},
               {"customer_name", text(), required},
               {"customer_email", text(), required},
               {"opted_out", flag("The customer wants no reminders."), required},
               {"opted_out_date", time()},
               {"opted_out_reason", text("As it was given.")},
               {"hard_bounces", count("E-mails that came back for good."), required},
               {"last_bounce", text("What was said about the last one.")},
               {"complaints", count("Complaints that were noted; the first one stops reminders."), required},
               {"last_complaint", text("As the last one was noted.")},
               {"reminders_sent", count(), required},
               {"late_payments", count("Invoices that were paid more than seven days late."), required},
               {"late_payer", flag("Three or more of these."), required},
               {"stopped", text("Why the customer gets no reminders; absent: gets them.")},
               {"last_reminders", list_of(last, "The last one of each type. Only where one customer is shown.")},
               {"created_date", time(), required},
               {"updated_date", time(), required}})};
}

Schema invoice() {
  return {
      .type = "object",
      .properties = with_recalled({{"customer_id", text(), required},
                                   {"invoice_id", text(), required},
                                   {"amount", text(), required},
                                   {"currency", text(), required},
                                   {"paid", text("What was paid so far."), required},
                                   {"due_date", day("It may be paid on that day."), required},
                                   {"status", {.type = "string", .choices = {"unpaid", "overdue", "paid"}}, required},
                                   {"paid_date", time("When it was paid in full, if that is known.")},
                                   {"created_date", time(), required},
                                   {"updated_date", time(), required}})};
}

Schema money() {
  return {.type = "object", .properties = {{"amount", text(), required}, {"currency", text(), required}}};
}

Schema payment() {
  return {.type = "object",
          .description = "Without a body, all that is left was paid now.",
          .properties = {{"amount", amount("What was paid; all that is left by default.")},
                         {"currency", currency()},
                         {"paid_date", time("When it was paid; now by default.")},
                         {"reference", customer_line(ReminderLimits::reference_bytes,
                                                     "Of the paying system: the same one again changes nothing.")}},
          .closed = true};
}

Schema import_report() {
  const Schema line{.type = "object",
                    .properties = {{"line", count("From 1, as editors count."), required},
                                   {"field", text(), required},
                                   {"rule", text(), required}}};
  return {.type = "object",
          .properties = with_recalled({{"taken", count("New or changed."), required},
                                       {"unchanged", count("There already, and the same."), required},
                                       {"refused", count(), required},
                                       {"lines", list_of(line, "Those that were refused."), required}})};
}

Schema erasure_report() {
  const Schema line{
      .type = "object",
      .properties = {
          {"what", text(), required}, {"count", count("Absent: not counted.")}, {"why", text("Why it stays.")}}};
  return {.type = "object", .properties = {{"removed", list_of(line), required}, {"kept", list_of(line), required}}};
}

}  // namespace

std::vector<NamedSchema> customer_schemas() {
  return {
      {"CustomerDetails",
       {.type = "object",
        .properties = {{"customer_name", customer_line(ReminderLimits::name_bytes, "The name."), required},
                       {"customer_email", customer_line(ReminderLimits::address_bytes, "The address.", "email"),
                        required}},
        .closed = true}},
      {"Customer", customer()},
      {"CustomerPage", page_of_records("Customer")},
      {"InvoiceDetails",
       {.type = "object",
        .properties = {{"amount", amount("What is to be paid."), required},
                       {"currency", currency(), required},
                       {"due_date", day("The last day on which it may be paid, in UTC."), required}},
        .closed = true}},
      {"Invoice", invoice()},
      {"InvoicePage", page_of_records("Invoice")},
      {"Payment", payment()},
      {"Money", money()},
      {"Overdue",
       {.type = "object",
        .properties = {{"customer", like("Customer"), required},
                       {"invoices", list_of(like("Invoice"), "Overdue ones, the oldest first."), required},
                       {"totals", list_of(like("Money"), "What is still to be paid, for each currency."), required}}}},
      {"OverduePage", page_of_records("Overdue")},
      {"ImportReport", import_report()},
      {"Erasure",
       {.type = "object",
        .properties = {{"also_unpaid",
                        {.type = "boolean",
                         .description = "Also when there are unpaid invoices, which are removed as well.",
                         .default_value = "false"}}},
        .closed = true}},
      {"ErasureReport", erasure_report()},
      {"CustomerExport", {.type = "object", .elements = {{}}}},
  };
}

}  // namespace postino::api
