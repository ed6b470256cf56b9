#include <CLI/CLI.hpp>
#include <memory>

#include "app/cli/command_line.h"
#include "app/cli/commands.h"
#include "app/tour/store_tour.h"

namespace postino::app {

void add_tour_command(CommandLine& line) {
  const auto directory = std::make_shared<std::string>();
  CLI::App* const command = line.program().add_subcommand("tour", "show the store step by step");
  command->add_option("--data", *directory, "keep the data in this directory instead of a temporary one")
      ->type_name("DIRECTORY");
  const auto run = [directory](const Console& console) -> int {
    const auto ended = run_store_tour(*directory, console.out);
    return ended ? success : report_error(console, {base::ErrorCode::io, ended.error().message});
  };
  line.add({command, run, "", {}});
}

}  // namespace postino::app
