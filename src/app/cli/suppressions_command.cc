#include "app/cli/change_command.h"
#include "app/cli/commands.h"
#include "app/cli/listing_command.h"

namespace postino::app {

namespace {

const Listing& suppression_listing() {
  static const Listing listing{
      "listSuppressions", "reading addresses", {{"ADDRESS", "address"}, {"SINCE", "since"}, {"REASON", "reason"}}};
  return listing;
}

}  // namespace

void add_suppressions_command(CommandLine& line) {
  CLI::App& suppressions =
      add_command_group(line, line.program(), "suppressions", "list, add and remove suppressed addresses");
  ClientCommand list(line, suppressions, "list", "listSuppressions");
  run_listing(list, suppression_listing());
  add_change_command(line, suppressions, suppression());
  add_change_command(line, suppressions, unsuppression());
}

}  // namespace postino::app
