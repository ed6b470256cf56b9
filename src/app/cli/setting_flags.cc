#include "app/cli/setting_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <utility>

namespace postino::app {

namespace {

// By the section of the configuration file, in the words of --help.
std::string group_of(const Setting& setting) {
  constexpr std::pair<std::string_view, const char*> groups[] = {
      {"server.", "Servers"},
      {"dynamodb.", "DynamoDB API"},
      {"store.", "Store"},
      {"log.", "Log"},
      {"http.", "REST API"},
      {"outbox.", "Outbox"},
      {"mysql.", "MySQL and MariaDB"},
      {"smtp.", "SMTP"},
      {"dkim.", "DKIM"},
      {"callback.", "Callbacks"},
      {"mqprobe.", "Messages"},
      {"messages.", "Messages"},
      {"reminders.", "Reminders"},
  };
  for (const auto& [prefix, group] : groups)
    if (setting.key.starts_with(prefix)) return group;
  return "General";
}

// " (default: 30s)"; nothing when it is off or not there.
std::string default_text(const Setting& setting) {
  static const Settings defaults;
  std::string text = setting.show == nullptr ? "" : setting.show(defaults);
  std::erase(text, '"');
  return text.empty() || text == "[]" || text == "false" ? "" : " (default: " + text + ")";
}

}  // namespace

void add_setting_flags(CLI::App& command, SettingFlags& flags, const std::function<bool(const Setting&)>& wanted) {
  command.add_option("--config", flags.config, "configuration file (TOML) [POSTINO_CONFIG]")
      ->type_name("FILE")
      ->envname("POSTINO_CONFIG");
  for (const Setting& setting : all_settings()) {
    if (!wanted(setting)) continue;
    std::string help(setting.help);
    help.append(default_text(setting)).append(" [").append(setting.variable).append("]");
    const auto take = [&flags, &setting](const std::string& text) { flags.values[&setting].push_back(text); };
    if (setting.kind == SettingKind::flag)
      command
          .add_flag_callback(
              std::string(setting.flag), [take] { take("true"); }, help)
          ->group(group_of(setting));
    else
      command.add_option_function<std::string>(std::string(setting.flag), take, help)
          ->type_name(std::string(setting.value_name))
          ->trigger_on_parse()
          ->group(group_of(setting));
  }
}

GivenSettings read_settings(const SettingFlags& flags) {
  GivenSettings read;
  Settings& settings = read.settings;
  SettingErrors& errors = read.errors;
  if (!flags.config.empty()) errors.add(apply_file(settings, flags.config));
  errors.add(apply_environment(settings, [](const std::string& name) { return std::getenv(name.c_str()); }));
  for (const auto& [setting, values] : flags.values)
    errors.add(apply(settings, *setting, values, std::string(setting->flag)));
  if (!errors.result()) return read;  // what was refused may be what another one needs
  errors.add(check(settings));
  if (flags.all_count)
    for (std::string& each : settings_without_effect(settings)) errors.add(std::move(each));
  return read;
}

base::Result<Settings> settings_of(const SettingFlags& flags) {
  GivenSettings read = read_settings(flags);
  TRY_VOID(read.errors.result());
  return std::move(read.settings);
}

int report_setting_errors(const Console& console, const base::Error& errors) {
  std::string_view rest = errors.message;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    report_error(console, {errors.code, std::string(rest.substr(0, end))}, misuse);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return misuse;
}

}  // namespace postino::app
