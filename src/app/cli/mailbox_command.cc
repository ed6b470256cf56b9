#include "app/cli/mailbox_command.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "app/client/answer_json.h"
#include "app/client/client_options.h"
#include "app/client/listing.h"
#include "app/client/rest_client.h"
#include "app/console/terminal_text.h"
#include "base/text.h"

namespace postino::app {

namespace {

struct MailboxFlags {
  ClientOptions client = environment_client_options();
  ListingOptions listing;
  std::string id;

  CLI::App* show = nullptr;
  CLI::App* clear = nullptr;
};

std::string mailbox_recipients(json::Element mail) {
  std::vector<std::string> addresses;
  for (const json::Element recipient : list_of(mail, "to")) addresses.push_back(text_of(recipient));
  return first_and_others(addresses);
}

std::vector<std::string> mailbox_cells(json::Element mail) {
  return {text_of(mail, "id"),      text_of(mail, "received_at"),     text_of(mail, "from"),
          mailbox_recipients(mail), grouped(number_of(mail, "size")), text_of(mail, "subject")};
}

base::Result<void> list_mail(RestClient& client, const MailboxFlags& flags, const Console& console) {
  Listing listing;
  listing.path = "/mailbox";
  listing.label = "reading mail";
  listing.columns = {{"ID"}, {"RECEIVED"}, {"FROM"}, {"TO"}, {"BYTES", Align::right}, {"SUBJECT"}};
  listing.cells = mailbox_cells;
  return print_listing(client, listing, flags.listing, flags.client.json, console);
}

base::Result<void> show_mail(RestClient& client, const MailboxFlags& flags, const Console& console) {
  TRY(const std::string message, client.get("/mailbox/" + base::encode_percent(flags.id)));
  console.print_foreign(message);
  return {};
}

base::Result<void> clear_mailbox(RestClient& client, const MailboxFlags& flags, const Console& console) {
  TRY(const std::string body, client.remove("/mailbox"));
  json::Document document;
  TRY_VOID(parse_answer(document, body));
  if (flags.client.json)
    console.print_foreign(body);
  else
    console.out << "removed " << counted(number_of(document.root(), "removed"), "e-mail") << "\n";
  return {};
}

int run(const MailboxFlags& flags, const Console& console) {
  auto client = RestClient::create(flags.client);
  if (!client) return report_error(console, client.error(), misuse);
  const auto action = *flags.show ? show_mail : *flags.clear ? clear_mailbox : list_mail;
  const auto done = action(*client, flags, console);
  return done ? success : report_error(console, done.error());
}

}  // namespace

Command add_mailbox_command(CLI::App& program) {
  const auto flags = std::make_shared<MailboxFlags>();
  CLI::App* const mailbox = program.add_subcommand("mailbox", "read the mail in the sandbox");
  mailbox->require_subcommand(0, 1);
  for (CLI::App* const list : {mailbox, mailbox->add_subcommand("list", "list the mail, newest first (by default)")}) {
    add_listing_options(*list, flags->listing);
    add_client_options(*list, flags->client);
  }
  flags->show = mailbox->add_subcommand("show", "print a message as it would have been sent");
  flags->show->add_option("id", flags->id, "the id of the e-mail")->type_name("ID")->required();
  add_client_options(*flags->show, flags->client, JsonFlag::none);
  flags->clear = mailbox->add_subcommand("clear", "empty the sandbox");
  add_client_options(*flags->clear, flags->client);
  return {mailbox, [flags](const Console& console) { return run(*flags, console); }};
}

}  // namespace postino::app
