#include "app/cli/change_command.h"

#include <memory>

namespace postino::app {

void add_change_command(CommandLine& line, CLI::App& group, const EmailChange& change) {
  ClientCommand command(line, group, std::string(change.name), change.operation);
  const auto options = std::make_shared<EmailChangeOptions>();
  const bool by_address = change.parameter == "address";
  command.add_argument(
      change.parameter, options->ids,
      by_address ? OptionStyle{.value_name = "ADDRESS", .help = "addresses"} : OptionStyle{.help = "ids of e-mails"});
  const api::Schema* const body = api::body_schema(operation_named(change.operation));
  if (body != nullptr && api::find_property(*body, "reason") != nullptr) command.add_option("reason", options->reason);
  command.run([options, &change, &shared = command.shared()](RestClient& client, const Console& console) {
    options->json = shared.json;
    return change_emails(client, change, *options, console);
  });
}

}  // namespace postino::app
