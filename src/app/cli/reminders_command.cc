#include <memory>

#include "api/protocol/limits.h"
#include "app/cli/commands.h"
#include "app/cli/help_format.h"
#include "app/cli/listing_command.h"
#include "app/cli/operation_command.h"
#include "app/client/answer.h"
#include "app/console/input_file.h"
#include "app/console/terminal_text.h"

namespace postino::app {

namespace {

std::vector<ListingColumn> sent_columns() {
  return {{"ID", "id"},
          {"CUSTOMER", "customer_id"},
          {"TYPE", "reminder_type"},
          {"SENT", "sent_date"},
          {"DELIVERY", "delivery_status"},
          {.title = "SUBJECT", .field = "email_subject", .most_columns = text_columns}};
}

std::vector<ListingColumn> customer_columns() {
  return {{"CUSTOMER", "customer_id"},
          {.title = "NAME", .field = "customer_name", .most_columns = name_columns},
          {.title = "E-MAIL", .field = "customer_email", .most_columns = text_columns},
          {"SENT", "reminders_sent", Align::right},
          {"PAID LATE", "late_payments", Align::right, "late_payer", " (late payer)"},
          {"STOPPED", "stopped"}};
}

struct NamedListing {
  std::string_view group;  // empty: none
  std::string_view name;
  Listing listing;
};

const std::vector<NamedListing>& reminder_listings() {
  static const std::vector<NamedListing> listings = {
      {"drafts",
       "list",
       {"listDrafts",
        "reading drafts",
        {{"ID", "id"},
         {"TYPE", "reminder_type"},
         {"STATUS", "status"},
         {"REVISION", "revision", Align::right},
         {"RULE", "decision.rule"},
         {"ALLOWED FROM", "decision.allowed_from"},
         {.title = "SUBJECT", .field = "email_subject", .most_columns = text_columns}}}},
      {"drafts",
       "revisions",
       {"listRevisions",
        "reading revisions",
        {{"REVISION", "revision", Align::right},
         {.title = "BY", .field = "revised_by", .most_columns = name_columns},
         {"AT", "revised_date"},
         {"SUBJECT", "email_subject"}}}},
      {"customers", "list", {"listCustomers", "reading customers", customer_columns()}},
      {"customers", "history", {"listCustomerHistory", "reading reminders", sent_columns()}},
      {"invoices",
       "list",
       {"listInvoices",
        "reading invoices",
        {{"INVOICE", "invoice_id"},
         {"AMOUNT", "amount", Align::right},
         {"CURRENCY", "currency"},
         {"PAID", "paid", Align::right},
         {"DUE", "due_date"},
         {"STATUS", "status"}}}},
      {"templates",
       "list",
       {"listTemplates",
        "reading templates",
        {{"TEMPLATE", "template_id"},
         {"ACTIVE", "active_version", Align::right},
         {"LATEST", "latest_version", Align::right},
         {"NAME", "template_name"}}}},
      {"templates",
       "versions",
       {"listTemplateVersions",
        "reading versions",
        {{"VERSION", "version", Align::right},
         {"STATUS", "status"},
         {"CREATED", "created_date"},
         {.title = "BY", .field = "created_by", .most_columns = name_columns},
         {"SUBJECT", "subject_template"}}}},
      {"brandings",
       "list",
       {"listBrandings",
        "reading brandings",
        {{"NAME", "name"}, {.title = "COMPANY", .field = "company", .most_columns = name_columns}, {"FROM", "from"}}}},
      {"", "sent", {"listSentReminders", "reading reminders", sent_columns()}},
      {"",
       "overdue",
       {"listOverdue",
        "reading customers",
        {{"CUSTOMER", "customer.customer_id"},
         {.title = "NAME", .field = "customer.customer_name", .most_columns = name_columns},
         {"AMOUNT", "totals[].amount", Align::right},
         {"CURRENCY", "totals[].currency"},
         {"SINCE", "invoices[].due_date"},
         {"INVOICES", "invoices[].invoice_id"}}}},
      {"", "late-payers", {"listLatePayers", "reading customers", customer_columns()}},
      {"",
       "rules",
       {"listRules",
        "reading rules",
        {{"TYPE", "reminder_type"}, {"PAUSE", "pause"}, {"FOLLOWS", "follows"}, {"AFTER", "after_followed"}}}},
      {"",
       "audit",
       {"listAuditEvents",
        "reading events",
        {{"AT", "at"},
         {"ACTION", "action"},
         {.title = "SUBJECT", .field = "subject", .most_columns = text_columns},
         {.title = "ACTOR", .field = "actor", .most_columns = name_columns},
         {"KEY", "key"}}}},
  };
  return listings;
}

struct NamedOperation {
  std::string_view group;
  OperationCommand command;
};

constexpr NamedOperation reminder_operations[] = {
    {"drafts", {"show", "getDraft"}},
    {"drafts", {"new", "draftReminder"}},
    {"drafts", {"bulk", "draftReminders"}},
    {"drafts", {"revise", "reviseDraft"}},
    {"drafts", {"diff", "compareRevisions"}},
    {"drafts", {"approve", "approveDraft"}},
    {"drafts", {"reject", "rejectDraft"}},
    {"customers", {"show", "getCustomer"}},
    {"customers", {"put", "putCustomer"}},
    {"customers", {"overdue", "getOverdue"}},
    {"customers", {"reminder", "getSentReminder"}},
    {"customers", {"opt-out", "optOut"}},
    {"customers", {"opt-in", "optIn"}},
    {"customers", {"complaint", "noteComplaint"}},
    {"customers", {"export", "exportCustomer"}},
    {"customers", {"erase", "eraseCustomer"}},
    {"customers", {"template", "getTemplateInUse"}},
    {"customers", {"put-template", "putTemplateOverride"}},
    {"customers", {"remove-template", "removeTemplateOverride"}},
    {"invoices", {"show", "getInvoice"}},
    {"invoices", {"put", "putInvoice"}},
    {"invoices", {"pay", "payInvoice"}},
    {"templates", {"show", "getTemplate"}},
    {"templates", {"add", "addTemplateVersion"}},
    {"templates", {"activate", "activateTemplate"}},
    {"templates", {"preview", "previewTemplate"}},
    {"brandings", {"show", "getBranding"}},
    {"brandings", {"put", "putBranding"}},
    {"", {"check", "checkRules"}},
    {"", {"summary", "getSummary"}},
};

constexpr std::pair<std::string_view, std::string_view> reminder_groups[] = {
    {"drafts", "draft reminders, and approve or reject them"},
    {"customers", "customers who may get reminders"},
    {"invoices", "invoices of customers"},
    {"templates", "templates of reminders"},
    {"brandings", "what the mails of a company share"},
};

// JSON lines begin with a brace, and no CSV that names its columns does.
std::string_view import_type(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' ? "application/x-ndjson" : "text/csv";
}

// What was imported may have stopped reminders that were approved before.
void tell_recalled(const AnswerObject& report, const Console& console) {
  constexpr std::pair<std::string_view, std::string_view> told[] = {
      {"cancelled_reminders[]", "reminder cancelled: "},
      {"reminders_perhaps_sent[]", "reminder cancelled, but it may have gone out before: "},
      {"reminders_being_sent[]", "reminder that is being sent at this moment: "},
      {"reminders_not_cancelled[]", "reminder that is not cancelled yet: "},
  };
  for (const auto& [list, words] : told)
    for (const std::string& reminder : report.texts(list)) console.errors << words << reminder << "\n";
  if (const std::string why = report.text("why_not_cancelled"); !why.empty())
    console.errors << "not all reminders that wait could be cancelled: " << why << "\n";
}

// `partly` when lines were refused.
base::Result<int> import_file(RestClient& client, std::string_view operation, const std::string& file, bool json,
                              const Console& console) {
  TRY(std::string text, read_input(file, api::Limits::body_bytes));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    return base::invalid((file == "-" ? "the standard input" : printable(file)) + " is empty");
  OperationCall call(operation);
  const std::string_view type = import_type(text);
  call.set_content(type, std::move(text));
  TRY(const std::string body, client.fetch(call));
  TRY(const Answer report, Answer::parse(operation, body));
  if (json) {
    console.print_foreign(body);
  } else {
    const AnswerObject root = report.root();
    const std::int64_t taken = root.number("taken"), unchanged = root.number("unchanged"),
                       refused = root.number("refused");
    console.out << grouped(taken) << " taken, " << grouped(unchanged) << " unchanged, " << grouped(refused)
                << " refused\n";
    if (taken + unchanged + refused == 0) console.errors << "There is nothing to import in the file.\n";
    for (const AnswerObject& line : root.objects("lines"))
      console.errors << "line " << line.number("line") << ": " << line.text("field") << " " << line.text("rule")
                     << "\n";
    tell_recalled(root, console);
  }
  return report.root().number("refused") == 0 ? success : partly;
}

void add_import(CommandLine& line, CLI::App& parent, const std::string& name, std::string_view operation) {
  ClientCommand command(line, parent, name, operation);
  const auto file = std::make_shared<std::string>();
  command.app()
      .add_option("FILE", *file, "file with a header and lines (CSV), or with JSON lines; - is the standard input")
      ->type_name("FILE")
      ->required();
  command.run([file, operation, &shared = command.shared()](RestClient& client, const Console& console) -> int {
    const auto status = import_file(client, operation, *file, shared.json, console);
    return status ? *status : report_error(console, status.error());
  });
}

struct ExportOptions {
  std::map<std::string, std::string, std::less<>> query;
  std::string cursor;
  std::int64_t limit = api::Limits::page_size;
};

// Part by part, from the cursor on.
base::Result<void> export_file(RestClient& client, std::string_view operation, const ExportOptions& options,
                               const Console& console) {
  std::string cursor = options.cursor;
  do {
    OperationCall call(operation);
    for (const auto& [parameter, value] : options.query) call.set(parameter, value);
    call.set("cursor", cursor).set("limit", std::to_string(options.limit));
    TRY(const http::ClientResponse response, client.send(call));
    if (response.status != 200) return base::propagate(client.describe(response));
    console.out << response.body;
    cursor = response.header("x-next-cursor");
  } while (!cursor.empty());
  return {};
}

void add_export(CommandLine& line, CLI::App& parent, const std::string& name, std::string_view operation) {
  ClientCommand command(line, parent, name, operation);
  const auto options = std::make_shared<ExportOptions>();
  command.add_query_options(options->query);
  command.add_option("cursor", options->cursor, {.help = "where to begin: the cursor of an earlier answer"});
  command.add_option("limit", options->limit, {.help = "lines to ask for at a time"});
  command.run([options, operation](RestClient& client, const Console& console) -> int {
    const auto exported = export_file(client, operation, *options, console);
    return exported ? success : report_error(console, exported.error());
  });
}

void add_group_commands(CommandLine& line, CLI::App& parent, std::string_view group) {
  for (const NamedListing& named : reminder_listings()) {
    if (named.group != group) continue;
    ClientCommand list(line, parent, std::string(named.name), named.listing.operation);
    run_listing(list, named.listing);
  }
  for (const NamedOperation& named : reminder_operations)
    if (named.group == group) add_operation_command(line, parent, named.command);
}

}  // namespace

void add_reminders_command(CommandLine& line) {
  CLI::App& reminders =
      add_command_group(line, line.program(), "reminders", "draft payment reminders, approve and send them");
  for (const auto& [name, description] : reminder_groups)
    add_group_commands(line, add_command_group(line, reminders, std::string(name), std::string(description)), name);
  CLI::App& import = add_command_group(line, reminders, "import", "take customers and invoices from files");
  add_import(line, import, "customers", "importCustomers");
  add_import(line, import, "invoices", "importInvoices");
  CLI::App& exported = add_command_group(line, reminders, "export", "write customers and invoices to files");
  add_export(line, exported, "customers", "exportCustomers");
  add_export(line, exported, "invoices", "exportInvoices");
  add_group_commands(line, reminders, "");
  add_examples(reminders,
               {"postino reminders import customers customers.csv", "postino reminders overdue",
                "postino reminders drafts new --customer-id cust_001 --reminder-type first --template-id polite",
                "postino reminders drafts list",
                "postino reminders drafts approve 20261117_201500_cust_001 --revision 1 --approved-by ann"});
}

}  // namespace postino::app
