#include <memory>

#include "app/cli/change_command.h"
#include "app/cli/commands.h"
#include "app/cli/listing_command.h"
#include "app/client/email_summary.h"
#include "app/console/table_text.h"
#include "app/console/terminal_text.h"

namespace postino::app {

namespace {

constexpr int subject_columns = 32;

Listing listing_of_emails(std::string_view operation) {
  return {operation,
          "reading e-mails",
          {{"ID", "id"},
           {.title = "STATUS", .field = "status", .flag = "partly_sent", .mark = " (partly)"},
           {"CREATED", "created_at"},
           {"FROM", "from"},
           {"TO", "recipients[].address"},
           {.title = "SUBJECT", .field = "subject", .most_columns = subject_columns},
           {"ATTEMPTS", "attempts", Align::right},
           {"REASON", "reason"}}};
}

const Listing& email_listing() {
  static const Listing listing = listing_of_emails("listEmails");
  return listing;
}

const Listing& invalid_listing() {
  static const Listing listing = listing_of_emails("listInvalidEmails");
  return listing;
}

const Listing& stale_listing() {
  static const Listing listing = listing_of_emails("listStaleEmails");
  return listing;
}

base::Result<void> show_email(RestClient& client, const std::string& id, bool json, const Console& console) {
  TRY(const std::string body, client.fetch(OperationCall("getEmail").set("id", id)));
  TRY(const Answer email, Answer::parse("getEmail", body));
  if (json)
    console.print_foreign(body);
  else
    console.out << email_summary(email.root(), console.out_columns);
  return {};
}

base::Result<void> count_emails(RestClient& client, bool json, const Console& console) {
  TRY(const std::string body, client.fetch(OperationCall("countEmails")));
  TRY(const Answer answer, Answer::parse("countEmails", body));
  if (json) {
    console.print_foreign(body);
    return {};
  }
  TableText table({{"STATUS"}, {"E-MAILS", Align::right}});
  for (const auto& [status, count] : answer.root().numbers("counts")) table.add({status, grouped(count)});
  table.add({"total", grouped(answer.root().number("total"))});
  console.out << table.take();
  return {};
}

void add_email_show(CommandLine& line, CLI::App& emails) {
  ClientCommand command(line, emails, "show", "getEmail");
  const auto id = std::make_shared<std::string>();
  command.add_argument("id", *id);
  command.run([id, &shared = command.shared()](RestClient& client, const Console& console) -> int {
    const auto shown = show_email(client, *id, shared.json, console);
    return shown ? success : report_error(console, shown.error());
  });
}

void add_email_counts(CommandLine& line, CLI::App& emails) {
  ClientCommand command(line, emails, "counts", "countEmails");
  command.run([&shared = command.shared()](RestClient& client, const Console& console) -> int {
    const auto counted = count_emails(client, shared.json, console);
    return counted ? success : report_error(console, counted.error());
  });
}

// The message or the payload: what the server has, as it is.
void add_email_contents(CommandLine& line, CLI::App& emails, const std::string& name, std::string_view operation) {
  ClientCommand command(line, emails, name, operation);
  const auto id = std::make_shared<std::string>();
  command.add_argument("id", *id);
  command.run([id, operation](RestClient& client, const Console& console) -> int {
    const auto contents = client.fetch(OperationCall(operation).set("id", *id));
    if (!contents) return report_error(console, contents.error());
    console.print_foreign(*contents);
    return success;
  });
}

}  // namespace

void add_emails_command(CommandLine& line) {
  CLI::App& emails = add_command_group(line, line.program(), "emails", "list, show and change e-mails");
  ClientCommand list(line, emails, "list", "listEmails");
  run_listing(list, email_listing());
  ClientCommand invalid(line, emails, "invalid", "listInvalidEmails");
  run_listing(invalid, invalid_listing());
  ClientCommand stale(line, emails, "stale", "listStaleEmails");
  run_listing(stale, stale_listing());
  add_email_show(line, emails);
  add_email_contents(line, emails, "message", "getMessage");
  add_email_contents(line, emails, "payload", "getPayload");
  add_email_counts(line, emails);
  for (const EmailChange& change : all_email_changes()) add_change_command(line, emails, change);
}

}  // namespace postino::app
