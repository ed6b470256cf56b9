#include <CLI/CLI.hpp>
#include <memory>

#include "app/cli/command_line.h"
#include "app/cli/commands.h"
#include "app/cli/setting_flags.h"
#include "app/server/serve.h"

namespace postino::app {

namespace {

using Action = int (*)(const Settings& settings, const SettingFlags& flags, const Console& console);

// A command that takes every setting.
void add_settings_command(CommandLine& line, const std::string& name, const std::string& help, Action action) {
  const auto flags = std::make_shared<SettingFlags>();
  flags->all_count = true;
  CLI::App* const command = line.program().add_subcommand(name, help);
  add_setting_flags(*command, *flags, [](const Setting&) { return true; });
  const auto run = [flags, action](const Console& console) -> int {
    const auto settings = settings_of(*flags);
    return settings ? action(*settings, *flags, console) : report_error(console, settings.error(), misuse);
  };
  line.add({command, run, "", {}});
}

int run_server(const Settings& settings, const SettingFlags& flags, const Console& console) {
  base::configure_log(settings.log_level, settings.log_format);
  if (const auto opened = base::open_log(settings.log_file); !opened)
    return report_error(console, {base::ErrorCode::io, "--log-file: " + opened.error().message});
  const auto served = serve(
      settings, [&flags] { return settings_of(flags); }, console.out);
  return served ? success : report_error(console, served.error());
}

int show_settings(const Settings& settings, const SettingFlags& /*flags*/, const Console& console) {
  console.out << show(settings);
  return success;
}

}  // namespace

void add_serve_command(CommandLine& line) {
  add_settings_command(line, "serve", "run the server: the REST API and DynamoDB's API on an embedded store",
                       run_server);
}

void add_config_command(CommandLine& line) {
  add_settings_command(line, "config", "check the settings and print them, without secrets", show_settings);
}

}  // namespace postino::app
