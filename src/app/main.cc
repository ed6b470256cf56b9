// The program: what it can be asked to do, and which part of the house does it.
#include <CLI/CLI.hpp>
#include <iostream>

#include "app/cli/copy_command.h"
#include "app/cli/emails_command.h"
#include "app/cli/mailbox_command.h"
#include "app/cli/messages_command.h"
#include "app/cli/migrate_command.h"
#include "app/cli/send_command.h"
#include "app/cli/setting_flags.h"
#include "app/cli/store_tour.h"
#include "app/server/serve.h"
#include "app/server/version.h"

namespace {

using postino::app::failure;
using postino::app::misuse;
using postino::app::Setting;
using postino::app::SettingFlags;
using postino::app::success;

template <class Result>
int tell(const Result& result, int status) {
  if (result) return success;
  std::cerr << "postino: " << result.error().message << "\n";
  return status;
}

int serve(const SettingFlags& flags) {
  const auto settings = settings_of(flags);
  if (!settings) return tell(settings, misuse);
  postino::base::configure_log(settings->log_level, settings->log_format);
  return tell(postino::app::serve(*settings, std::cout), failure);
}

int show_settings(const SettingFlags& flags) {
  const auto settings = settings_of(flags);
  if (settings) std::cout << postino::app::show(*settings);
  return tell(settings, misuse);
}

// "postino emails list", as far as the command line was understood.
std::string asked_command(const CLI::App& program) {
  std::string name = program.get_name();
  for (auto asked = program.get_subcommands(); !asked.empty(); asked = asked.front()->get_subcommands())
    name += " " + asked.front()->get_name();
  return name;
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App program(
      "Postino makes a company's messages reliable: an e-mail outbox on a store that speaks Amazon DynamoDB's API.",
      "postino");
  program.set_version_flag("--version", "postino " + std::string(postino::app::program_version()));
  SettingFlags flags;
  const auto every_setting = [](const Setting&) { return true; };
  CLI::App* serving =
      program.add_subcommand("serve", "serve the outbox's REST API and DynamoDB's API on an embedded store");
  add_setting_flags(*serving, flags, every_setting);
  CLI::App* config = program.add_subcommand("config", "check the settings and show them, without secrets");
  add_setting_flags(*config, flags, every_setting);
  std::string directory;
  CLI::App* tour = program.add_subcommand("tour", "a guided tour of the store");
  tour->add_option("--data", directory, "keep the tour's data in this directory instead of a temporary one")
      ->type_name("DIRECTORY");
  const postino::app::Command commands[] = {
      postino::app::add_send_command(program),    postino::app::add_emails_command(program),
      postino::app::add_mailbox_command(program), postino::app::add_messages_command(program),
      postino::app::add_migrate_command(program), postino::app::add_copy_command(program)};
  try {
    program.parse(count, arguments);
  } catch (const CLI::Success& asked) {  // for help or the version, which this prints
    return program.exit(asked);
  } catch (const CLI::ParseError& error) {
    std::cerr << "postino: " << error.what() << "\nSee " << asked_command(program) << " --help for what it can do.\n";
    return misuse;
  }
  if (*serving) return serve(flags);
  if (*config) return show_settings(flags);
  if (*tour) return tell(postino::app::run_store_tour(directory, std::cout), failure);
  for (const postino::app::Command& command : commands)
    if (*command.asked) return run(command, postino::app::standard_console());
  std::cerr << program.help();
  return misuse;
}
