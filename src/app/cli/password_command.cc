#include <CLI/CLI.hpp>

#include "access/password.h"
#include "app/cli/command_line.h"
#include "app/cli/commands.h"
#include "app/cli/help_format.h"
#include "app/console/password_prompt.h"

namespace postino::app {

namespace {

int print_hash(const Console& console) {
  const auto password = read_new_password(console);
  if (!password) return report_error(console, password.error());
  const auto hash = access::hash_password(*password);
  if (!hash) return report_error(console, hash.error());
  console.out << *hash << "\n";
  return success;
}

}  // namespace

void add_password_command(CommandLine& line) {
  CLI::App* const command = line.program().add_subcommand(
      "password", "read a password, from the terminal or the standard input, and print its hash for --user");
  add_examples(*command, {"postino password", "printf 'correct horse battery' | postino password",
                          "postino serve --user 'anna:operator:HASH'"});
  line.add({command, print_hash, "", {}});
}

}  // namespace postino::app
