// The program: what it can be asked to do, and which part of the house does it.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <map>

#include "app/emails_command.h"
#include "app/mailbox_command.h"
#include "app/send_command.h"
#include "app/serve.h"
#include "app/settings.h"
#include "app/tour.h"

namespace {

using postino::app::failure;
using postino::app::misuse;
using postino::app::Setting;
using postino::app::SettingKind;
using postino::app::Settings;
using postino::app::success;

template <class Result>
int tell(const Result& result, int status) {
  if (result) return success;
  std::cerr << "postino: " << result.error().message << "\n";
  return status;
}

// What was given on the command line, by setting.
struct Flags {
  std::map<const Setting*, std::vector<std::string>> values;
  std::string config;
};

void add_flags(CLI::App& command, Flags& flags) {
  command.add_option("--config", flags.config, "a configuration file (TOML); see docs/configuration.md")
      ->type_name("FILE")
      ->envname("POSTINO_CONFIG");
  for (const Setting& setting : postino::app::all_settings()) {
    std::string help(setting.help);
    help.append(" [").append(setting.variable).append("]");
    const auto take = [&flags, &setting](const std::string& text) { flags.values[&setting].push_back(text); };
    if (setting.kind == SettingKind::flag)
      command.add_flag_callback(
          std::string(setting.flag), [take] { take("true"); }, help);
    else
      command.add_option_function<std::string>(std::string(setting.flag), take, help)
          ->type_name(std::string(setting.value_name))
          ->trigger_on_parse();
  }
}

postino::base::Result<Settings> settings_of(const Flags& flags) {
  Settings settings;
  if (!flags.config.empty()) TRY_VOID(postino::app::apply_file(settings, flags.config));
  TRY_VOID(
      postino::app::apply_environment(settings, [](const std::string& name) { return std::getenv(name.c_str()); }));
  for (const auto& [setting, values] : flags.values)
    TRY_VOID(postino::app::apply(settings, *setting, values, std::string(setting->flag)));
  TRY_VOID(postino::app::check(settings));
  return settings;
}

int serve(const Flags& flags) {
  const auto settings = settings_of(flags);
  if (!settings) return tell(settings, misuse);
  postino::base::configure_log(settings->log_level, settings->log_format);
  return tell(postino::app::serve(*settings, std::cout), failure);
}

int show_settings(const Flags& flags) {
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
  program.set_version_flag("--version", "postino " POSTINO_VERSION);
  Flags flags;
  CLI::App* serving =
      program.add_subcommand("serve", "serve the outbox's REST API and DynamoDB's API on an embedded store");
  add_flags(*serving, flags);
  CLI::App* config = program.add_subcommand("config", "check the settings and show them, without secrets");
  add_flags(*config, flags);
  std::string directory;
  CLI::App* tour = program.add_subcommand("tour", "a guided tour of the store");
  tour->add_option("--data", directory, "keep the tour's data in this directory instead of a temporary one")
      ->type_name("DIRECTORY");
  const postino::app::Command clients[] = {postino::app::add_send_command(program),
                                           postino::app::add_emails_command(program),
                                           postino::app::add_mailbox_command(program)};
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
  if (*tour) return tell(postino::app::take_tour(directory, std::cout), failure);
  for (const postino::app::Command& client : clients)
    if (*client.asked) return run(client, postino::app::standard_console());
  std::cerr << program.help();
  return misuse;
}
