#include <memory>

#include "app/cli/client_command.h"
#include "app/cli/commands.h"
#include "app/cli/listing_command.h"
#include "app/console/terminal_text.h"

namespace postino::app {

namespace {

const Listing& mail_listing() {
  static const Listing listing{"listMailbox",
                               "reading mail",
                               {{"ID", "id"},
                                {"RECEIVED", "received_at"},
                                {"FROM", "from"},
                                {"TO", "to[]"},
                                {"BYTES", "size", Align::right},
                                {"SUBJECT", "subject"}}};
  return listing;
}

base::Result<void> show_mail(RestClient& client, const std::string& id, const Console& console) {
  TRY(const std::string message, client.fetch(OperationCall("getMail").set("id", id)));
  console.print_foreign(message);
  return {};
}

base::Result<void> clear_mailbox(RestClient& client, bool json, const Console& console) {
  TRY(const std::string body, client.fetch(OperationCall("clearMailbox")));
  TRY(const Answer answer, Answer::parse("clearMailbox", body));
  if (json)
    console.print_foreign(body);
  else
    console.out << counted(answer.root().number("removed"), "message") << " removed from the sandbox\n";
  return {};
}

void add_mail_show(CommandLine& line, CLI::App& mailbox) {
  ClientCommand command(line, mailbox, "show", "getMail");
  const auto id = std::make_shared<std::string>();
  command.add_argument("id", *id);
  command.run([id](RestClient& client, const Console& console) -> int {
    const auto shown = show_mail(client, *id, console);
    return shown ? success : report_error(console, shown.error());
  });
}

void add_mail_clear(CommandLine& line, CLI::App& mailbox) {
  ClientCommand command(line, mailbox, "clear", "clearMailbox");
  command.run([&shared = command.shared()](RestClient& client, const Console& console) -> int {
    const auto cleared = clear_mailbox(client, shared.json, console);
    return cleared ? success : report_error(console, cleared.error());
  });
}

}  // namespace

void add_mailbox_command(CommandLine& line) {
  CLI::App& mailbox = add_command_group(line, line.program(), "mailbox", "read the mail in the sandbox");
  mailbox.require_subcommand(0, 1);
  ClientCommand list(line, mailbox, "list", "listMailbox");
  run_listing(list, mail_listing());
  add_mail_show(line, mailbox);
  add_mail_clear(line, mailbox);
  ClientCommand by_default(line, mailbox, "listMailbox");
  run_listing(by_default, mail_listing());
}

}  // namespace postino::app
