#include "app/cli/emails_command.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "app/client/answer_json.h"
#include "app/client/client_options.h"
#include "app/client/email_changes.h"
#include "app/client/email_summary.h"
#include "app/client/listing.h"
#include "app/client/rest_client.h"
#include "app/console/table_text.h"
#include "app/console/terminal_text.h"
#include "base/text.h"

namespace postino::app {

namespace {

struct EmailsFlags {
  ClientOptions client = environment_client_options();
  ListingOptions listing;
  std::string status;
  std::string from;
  std::string to;
  std::string id;
  std::vector<std::string> ids;
  std::string reason;

  CLI::App* list = nullptr;
  CLI::App* show = nullptr;
  CLI::App* counts = nullptr;
  std::vector<std::pair<CLI::App*, const EmailChange*>> changes;
};

std::string email_recipients(json::Element email) {
  std::vector<std::string> addresses;
  for (const json::Element recipient : list_of(email, "recipients")) addresses.push_back(text_of(recipient, "address"));
  return first_and_others(addresses);
}

std::vector<std::string> email_cells(json::Element email) {
  return {text_of(email, "id"),    text_of(email, "status"), text_of(email, "created_at"),
          text_of(email, "from"),  email_recipients(email),  grouped(number_of(email, "attempts")),
          text_of(email, "reason")};
}

base::Result<void> list_emails(RestClient& client, const EmailsFlags& flags, const Console& console) {
  Listing listing;
  listing.path = "/emails";
  listing.parameters = {{"status", base::upper_case(flags.status)}, {"from", flags.from}, {"to", flags.to}};
  listing.label = "reading e-mails";
  listing.columns = {{"ID"}, {"STATUS"}, {"CREATED"}, {"FROM"}, {"TO"}, {"ATTEMPTS", Align::right}, {"REASON"}};
  listing.cells = email_cells;
  return print_listing(client, listing, flags.listing, flags.client.json, console);
}

base::Result<void> show_email(RestClient& client, const EmailsFlags& flags, const Console& console) {
  TRY(const std::string body, client.get("/emails/" + base::encode_percent(flags.id)));
  json::Document document;
  TRY_VOID(parse_answer(document, body));
  if (flags.client.json)
    console.print_foreign(body);
  else
    console.out << email_summary(document.root(), console.out_columns);
  return {};
}

base::Result<void> count_emails(RestClient& client, const EmailsFlags& flags, const Console& console) {
  TRY(const std::string body, client.get("/emails/counts"));
  json::Document document;
  TRY_VOID(parse_answer(document, body));
  if (flags.client.json) {
    console.print_foreign(body);
    return {};
  }
  TableText table({{"STATUS"}, {"E-MAILS", Align::right}});
  if (const auto counts = document.root().member("counts"))
    for (const auto& [status, count] : counts->members())
      table.add({printable(status), grouped(count.integer().value_or(0))});
  table.add({"total", grouped(number_of(document.root(), "total"))});
  console.out << table.take();
  return {};
}

int run(const EmailsFlags& flags, const Console& console) {
  auto client = RestClient::create(flags.client);
  if (!client) return report_error(console, client.error(), misuse);
  for (const auto& [asked, change] : flags.changes)
    if (*asked) return change_emails(*client, *change, flags.ids, flags.reason, flags.client.json, console);
  const auto action = *flags.list ? list_emails : *flags.show ? show_email : count_emails;
  const auto done = action(*client, flags, console);
  return done ? success : report_error(console, done.error());
}

void add_list(CLI::App& emails, EmailsFlags& flags) {
  flags.list = emails.add_subcommand("list", "list e-mails, newest first");
  flags.list->add_option("--status", flags.status, "only those in this state, such as FAILED")->type_name("STATUS");
  flags.list->add_option("--from", flags.from, "only those that were accepted then or later (RFC 3339)")
      ->type_name("TIME");
  flags.list->add_option("--to", flags.to, "only those that were accepted before")->type_name("TIME");
  add_listing_options(*flags.list, flags.listing);
  add_client_options(*flags.list, flags.client);
}

void add_changes(CLI::App& emails, EmailsFlags& flags) {
  for (const EmailChange& change : all_email_changes()) {
    CLI::App* const command = emails.add_subcommand(change.action, change.help);
    command->add_option("ids", flags.ids, "the ids of the e-mails")->type_name("ID")->required();
    command->add_option("--reason", flags.reason, "why, for the history")->type_name("TEXT");
    add_client_options(*command, flags.client);
    flags.changes.emplace_back(command, &change);
  }
}

}  // namespace

Command add_emails_command(CLI::App& program) {
  const auto flags = std::make_shared<EmailsFlags>();
  CLI::App* const emails = program.add_subcommand("emails", "see and change what becomes of e-mails");
  emails->require_subcommand(1);
  add_list(*emails, *flags);
  flags->show = emails->add_subcommand("show", "show an e-mail and its history");
  flags->show->add_option("id", flags->id, "the id of the e-mail")->type_name("ID")->required();
  add_client_options(*flags->show, flags->client);
  add_changes(*emails, *flags);
  flags->counts = emails->add_subcommand("counts", "count the e-mails in each state");
  add_client_options(*flags->counts, flags->client);
  return {emails, [flags](const Console& console) { return run(*flags, console); }};
}

}  // namespace postino::app
