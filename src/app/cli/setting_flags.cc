#include "app/cli/setting_flags.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

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
  };
  for (const auto& [prefix, group] : groups)
    if (setting.key.starts_with(prefix)) return group;
  return "General";
}

}  // namespace

void add_setting_flags(CLI::App& command, SettingFlags& flags, const std::function<bool(const Setting&)>& wanted) {
  command.add_option("--config", flags.config, "configuration file (TOML) [POSTINO_CONFIG]")
      ->type_name("FILE")
      ->envname("POSTINO_CONFIG");
  for (const Setting& setting : all_settings()) {
    if (!wanted(setting)) continue;
    std::string help(setting.help);
    help.append(" [").append(setting.variable).append("]");
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

base::Result<Settings> settings_of(const SettingFlags& flags) {
  Settings settings;
  if (!flags.config.empty()) TRY_VOID(apply_file(settings, flags.config));
  TRY_VOID(apply_environment(settings, [](const std::string& name) { return std::getenv(name.c_str()); }));
  for (const auto& [setting, values] : flags.values)
    TRY_VOID(apply(settings, *setting, values, std::string(setting->flag)));
  TRY_VOID(check(settings));
  if (flags.all_count)
    if (const auto ignored = settings_without_effect(settings); !ignored.empty()) return base::invalid(ignored.front());
  return settings;
}

}  // namespace postino::app
