#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "app/cli/command_line.h"
#include "app/cli/commands.h"
#include "app/cli/named_files.h"
#include "app/cli/setting_flags.h"
#include "app/server/serve.h"
#include "base/log.h"
#include "base/log_file.h"

namespace postino::app {

namespace {

// Of the variables in the environment.
std::vector<std::string> variable_names() {
  std::vector<std::string> names;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable = *each;
    names.emplace_back(variable.substr(0, variable.find('=')));
  }
  return names;
}

using Action = int (*)(const SettingFlags& flags, const Console& console);

// A command that takes every setting.
void add_settings_command(CommandLine& line, const std::string& name, const std::string& help, Action action) {
  const auto flags = std::make_shared<SettingFlags>();
  flags->all_count = true;
  CLI::App* const command = line.program().add_subcommand(name, help);
  add_setting_flags(*command, *flags, [](const Setting&) { return true; });
  const auto run = [flags, action](const Console& console) -> int { return action(*flags, console); };
  line.add({command, run, "", {}});
}

int run_server(const SettingFlags& flags, const Console& console) {
  const auto settings = settings_of(flags);
  if (!settings) return report_setting_errors(console, settings.error());
  base::configure_log(settings->log_level, settings->log_format);
  if (const auto opened = base::open_log(settings->log_file); !opened)
    return report_error(console, {base::ErrorCode::io, "--log-file: " + opened.error().message});
  for (const std::string& warning : misspelt_variables(variable_names())) base::log_warning("serve", warning);
  const auto served = serve(
      *settings, [&flags] { return settings_of(flags); }, console.out);
  return served ? success : report_error(console, served.error());
}

// Everything that is wrong, at once.
int show_settings(const SettingFlags& flags, const Console& console) {
  GivenSettings read = read_settings(flags);
  const FileFindings files =
      look_at_files(read.settings, flags.config, [](const std::string& name) { return std::getenv(name.c_str()); });
  std::vector<std::string> warnings = misspelt_variables(variable_names());
  warnings.insert(warnings.end(), files.warnings.begin(), files.warnings.end());
  for (const std::string& warning : warnings) console.errors << "postino: warning: " << warning << "\n";
  read.errors.add(files.errors.result());
  if (const auto usable = read.errors.result(); !usable) return report_setting_errors(console, usable.error());
  const std::string text = show(read.settings);
  if (text.find(secret_mark) != std::string::npos)
    console.out << "# " << secret_mark << " stands for a secret. Put the secret in its place before you use this.\n";
  console.out << text;
  return success;
}

}  // namespace

void add_serve_command(CommandLine& line) {
  add_settings_command(
      line, "serve", "run the server: the REST API and DynamoDB's API, on the embedded store or one that servers share",
      run_server);
}

void add_config_command(CommandLine& line) {
  add_settings_command(line, "config",
                       "check the settings and the files they name, and print the settings without secrets",
                       show_settings);
}

}  // namespace postino::app
