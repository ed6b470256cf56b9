#include "app/cli/listing_command.h"

#include <memory>

#include "api/protocol/limits.h"
#include "base/check.h"

namespace postino::app {

void run_listing(ClientCommand& command, const Listing& listing) {
  constexpr std::int64_t most = 1'000'000'000;
  CHECK(is_listable(listing));
  const auto options = std::make_shared<ListingOptions>();
  options->limit = api::Limits::usual_page_size;
  const api::Operation& operation = operation_named(listing.operation);
  for (const api::Parameter& parameter : operation.parameters)
    if (parameter.place == api::ParameterPlace::path)
      command.add_argument(parameter.name, options->query[std::string(parameter.name)]);
  command.add_query_options(options->query);
  const auto run = [options, &listing, &shared = command.shared()](RestClient& client, const Console& console) -> int {
    options->json = shared.json;
    const auto printed = print_listing(client, listing, *options, console);
    return printed ? success : report_error(console, printed.error());
  };
  if (api::find_parameter(operation, "cursor") == nullptr) {  // there is only one page
    if (api::find_parameter(operation, "limit") != nullptr) command.add_option("limit", options->limit);
    return command.run(run);
  }
  // Of all pages together, so that it may be larger than that of the operation.
  command.app()
      .add_option("--limit", options->limit,
                  "maximum number to list; " + std::to_string(options->limit) + " by default")
      ->type_name("COUNT")
      ->check(CLI::Range(std::int64_t{1}, most).description(""));
  command.add_option(
      "cursor", options->cursor,
      {.value_name = "CURSOR", .help = "where to begin: the cursor of an earlier page, which --json shows"});
  command.app().add_flag("--all", options->all, "list all, without a limit");
  command.run(run);
}

}  // namespace postino::app
