#include "app/cli/change_command.h"
#include "app/cli/commands.h"
#include "app/cli/listing_command.h"

namespace postino::app {

namespace {

const Listing& callback_listing() {
  static const Listing listing{"listDeadCallbacks",
                               "reading callbacks",
                               {{"ID", "id"},
                                {"STATUS", "status"},
                                {"UPDATED", "updated_at"},
                                {"URL", "callback.url"},
                                {"ATTEMPTS", "callback.attempts", Align::right},
                                {"ERROR", "callback.last_error"}}};
  return listing;
}

}  // namespace

void add_callbacks_command(CommandLine& line) {
  CLI::App& callbacks =
      add_command_group(line, line.program(), "callbacks", "list and replay callbacks that were given up");
  ClientCommand list(line, callbacks, "list", "listDeadCallbacks");
  run_listing(list, callback_listing());
  add_change_command(line, callbacks, callback_replay());
}

}  // namespace postino::app
