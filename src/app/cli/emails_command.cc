#include <memory>

#include "app/cli/client_command.h"
#include "app/cli/commands.h"
#include "app/cli/listing_command.h"
#include "app/client/email_changes.h"
#include "app/client/email_summary.h"
#include "app/console/table_text.h"
#include "app/console/terminal_text.h"

namespace postino::app {

namespace {

const Listing& email_listing() {
  static const Listing listing{"listEmails",
                               "reading e-mails",
                               {{"ID", "id"},
                                {"STATUS", "status"},
                                {"CREATED", "created_at"},
                                {"FROM", "from"},
                                {"TO", "recipients[].address"},
                                {"ATTEMPTS", "attempts", Align::right},
                                {"REASON", "reason"}}};
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

void add_email_change(CommandLine& line, CLI::App& emails, const EmailChange& change) {
  ClientCommand command(line, emails, std::string(change.name), change.operation);
  const auto options = std::make_shared<EmailChangeOptions>();
  command.add_argument("id", options->ids, {.help = "ids of e-mails"});
  command.add_option("reason", options->reason);
  command.run([options, &change, &shared = command.shared()](RestClient& client, const Console& console) {
    options->json = shared.json;
    return change_emails(client, change, *options, console);
  });
}

}  // namespace

void add_emails_command(CommandLine& line) {
  CLI::App& emails = add_command_group(line, "emails", "list, show and change e-mails");
  emails.require_subcommand(1);
  ClientCommand list(line, emails, "list", "listEmails");
  run_listing(list, email_listing());
  add_email_show(line, emails);
  add_email_counts(line, emails);
  for (const EmailChange& change : all_email_changes()) add_email_change(line, emails, change);
}

}  // namespace postino::app
