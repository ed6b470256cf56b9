// Invoices, and the import of customers and invoices.
#include "api/routes/reminder_json.h"
#include "api/routes/reminder_parameters.h"
#include "api/routes/reminder_requests.h"
#include "api/routes/route_groups.h"
#include "base/text.h"

namespace postino::api {

namespace {

constexpr std::string_view csv_content_type = "text/csv";
constexpr std::string_view json_lines_content_type = "application/x-ndjson";

Outcome list_invoices(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const reminders::PageRequest page, reminder_page(call));
  TRY(const auto invoices,
      answered(service->customers().invoices(call.path_parameter("id"), page, call.caller.tenant)));
  return json_reply(page_json(invoices, call.services.clock.now()));
}

Outcome show_invoice(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const auto invoice, answered(service->customers().find_invoice(
                              call.path_parameter("id"), call.path_parameter("invoice"), call.caller.tenant)));
  return json_reply(thing_json(invoice, call.services.clock.now()));
}

Outcome put_invoice(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const auto wanted, read_invoice(call.request.body, call.path_parameter("id"), call.path_parameter("invoice")));
  TRY(const auto invoice, answered(service->customers().put_invoice(wanted, actor_of(call))));
  return json_reply(thing_json(invoice, call.services.clock.now()));
}

Outcome pay_invoice(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const reminders::Payment payment, read_payment(call.request.body));
  TRY(const auto invoice,
      answered_in(payment_fields, service->customers().pay(call.path_parameter("id"), call.path_parameter("invoice"),
                                                           payment, actor_of(call))));
  Reply reply = json_reply(thing_json(invoice, call.services.clock.now()));
  reply.told_of = told_of(invoice.recalled);
  return reply;
}

Outcome payment_again(Call& call, const std::string& told_of) {
  TRY(auto* service, reminders_of(call));
  TRY(auto invoice, answered(service->customers().find_invoice(call.path_parameter("id"),
                                                               call.path_parameter("invoice"), call.caller.tenant)));
  return json_reply(thing_json(reminders::Stopping<reminders::Invoice>{std::move(invoice), read_told(told_of)},
                               call.services.clock.now()));
}

Outcome import_lines(Call& call, reminders::ImportKind kind) {
  TRY(auto* service, reminders_of(call));
  if (call.request.body.size() > reminders::Imports::max_bytes)
    return refuse(problems::body_too_large,
                  "An import has at most " + std::to_string(reminders::Imports::max_bytes >> 20) + " MiB.");
  const bool is_csv = base::equal_ignoring_case(call.request.media_type(), csv_content_type);
  TRY(const auto report,
      answered(service->imports().run(kind, is_csv ? reminders::ImportFormat::csv : reminders::ImportFormat::json_lines,
                                      call.request.body, actor_of(call))));
  return json_reply(thing_json(report));
}

// A part of a file; the header says where the next one begins.
Outcome export_lines(Call& call, reminders::ImportKind kind) {
  TRY(auto* service, reminders_of(call));
  TRY(const reminders::PageRequest page, reminder_page(call));
  const std::string format = call.text("format");
  if (!format.empty() && format != "csv" && format != "json") return refuse_field("format", "must be csv or json");
  const bool is_json = format == "json";
  TRY(reminders::ExportPart part,
      answered(service->imports().export_part(
          kind, is_json ? reminders::ImportFormat::json_lines : reminders::ImportFormat::csv, page,
          call.caller.tenant)));
  Reply reply{.content_type = std::string(is_json ? json_lines_content_type : csv_content_type),
              .body = std::move(part.text)};
  if (!part.cursor.empty()) reply.headers.emplace_back("X-Next-Cursor", std::move(part.cursor));
  return reply;
}

Outcome export_customers(Call& call) { return export_lines(call, reminders::ImportKind::customers); }
Outcome export_invoices(Call& call) { return export_lines(call, reminders::ImportKind::invoices); }
Outcome import_customers(Call& call) { return import_lines(call, reminders::ImportKind::customers); }
Outcome import_invoices(Call& call) { return import_lines(call, reminders::ImportKind::invoices); }

Operation invoice_operation(std::string_view id, std::string_view method, std::string_view path,
                            std::string_view summary, std::string_view description = "") {
  const Parameter invoice{"invoice",
                          ParameterPlace::path,
                          {.type = "string", .description = "The id of the invoice.", .example = R"("INV-001")"}};
  return reminder_operation(
      id, method, path, summary, description, {customer_id_parameter(), invoice},
      {{200, "The invoice.", {{json_content_type, "Invoice"}}}, {404, "The customer or the invoice does not exist."}});
}

Operation import_operation(std::string_view id, std::string_view path, std::string_view summary,
                           std::string_view columns) {
  Operation operation = reminder_operation(
      id, "POST", path, summary, columns, {},
      {{200, "How many lines were taken, and each that was refused.", {{json_content_type, "ImportReport"}}}});
  operation.body = {{{csv_content_type, ""}, {json_lines_content_type, ""}}, true};
  return operation;
}

Operation export_operation(std::string_view id, std::string_view path, std::string_view summary) {
  const Parameter format{"format",
                         ParameterPlace::query,
                         {.type = "string",
                          .description = "csv, or json for JSON lines.",
                          .choices = {"csv", "json"},
                          .default_value = R"("csv")"}};
  return reminder_operation(id, "GET", path, summary,
                            "A file comes in parts: as long as an answer has the header X-Next-Cursor, that is the "
                            "`cursor` of the next part. "
                            "CSV has its header in the first part, and no formulas. What is exported can be imported.",
                            {format, cursor_parameter(), limit_parameter()},
                            {{200, "A part of the file.", {{csv_content_type, ""}, {json_lines_content_type, ""}}}});
}

}  // namespace

std::vector<Route> invoice_routes() {
  Operation list =
      invoice_operation("listInvoices", "GET", "/reminders/customers/{id}/invoices", "List the invoices of a customer");
  list.parameters = {customer_id_parameter(), cursor_parameter(), limit_parameter()};
  list.answers = {{200, "A page of invoices.", {{json_content_type, "InvoicePage"}}}, no_customer()};
  Operation put =
      invoice_operation("putInvoice", "PUT", "/reminders/customers/{id}/invoices/{invoice}", "Add or change an invoice",
                        "One that is paid cannot be changed any more. When the invoice is no longer overdue, drafts "
                        "are withdrawn and reminders that wait are cancelled, as after a payment.");
  put.body = {{{json_content_type, "InvoiceDetails"}}, true};
  put.answers.push_back({409, "The invoice is paid (WRONG_REMINDER_STATE).", {}});
  Operation pay = invoice_operation(
      "payInvoice", "POST", "/reminders/customers/{id}/invoices/{invoice}/pay", "Note a payment",
      "When the last overdue invoice of the customer is paid in full, the drafts of the customer are withdrawn, in the "
      "same commit, and reminders that wait in the outbox are cancelled (`cancelled_reminders`). As long as others are "
      "overdue, this is done to drafts and reminders that name none of them, but only invoices that are no longer "
      "overdue. The same `reference` again changes nothing.");
  pay.body = {{{json_content_type, "Payment"}}, false};
  pay.answers.push_back({409, "The invoice is paid already (WRONG_REMINDER_STATE).", {}});
  return with_reminder_answers({
      {.operation = std::move(list), .handle = list_invoices, .large_answer = true},
      {.operation =
           invoice_operation("getInvoice", "GET", "/reminders/customers/{id}/invoices/{invoice}", "Show an invoice"),
       .handle = show_invoice},
      {.operation = std::move(put), .handle = put_invoice},
      {.operation = std::move(pay), .handle = pay_invoice, .again = payment_again},
      {.operation = import_operation("importCustomers", "/reminders/import/customers", "Import customers",
                                     "As CSV with a header, or as JSON lines: `customer_id`, `customer_name`, "
                                     "`customer_email`, and `opted_out`, which may be missing. Each line by itself; "
                                     "importing again changes nothing. A line that would take an opt-out back is "
                                     "refused."),
       .handle = import_customers,
       .waits = Waits::for_others},
      {.operation =
           import_operation("importInvoices", "/reminders/import/invoices", "Import invoices",
                            "As CSV with a header, or as JSON lines: `customer_id`, `invoice_id`, `amount`, "
                            "`currency`, `due_date`, and `paid` and `paid_at`, which may be missing. Each line by "
                            "itself; importing again changes nothing. A line that would take a payment back, or "
                            "change the day of it, is refused. If it is paid without `paid_at`, the day is not known, "
                            "and a later import may tell it."),
       .handle = import_invoices,
       .waits = Waits::for_others},
      {.operation = export_operation("exportCustomers", "/reminders/export/customers", "Export customers"),
       .handle = export_customers,
       .large_answer = true},
      {.operation = export_operation("exportInvoices", "/reminders/export/invoices", "Export invoices"),
       .handle = export_invoices,
       .large_answer = true},
  });
}

}  // namespace postino::api
