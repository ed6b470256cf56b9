#include "app/cli/setting_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

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
      {"tickets.", "Tickets"},
      {"objects.", "Objects"},
      {"capacity.", "Capacity"},
      {"metrics.", "Metrics"},
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

std::vector<std::string> lines_of(const base::Result<void>& errors) {
  std::vector<std::string> lines;
  if (errors) return lines;
  std::string_view rest = errors.error().message;
  while (!rest.empty()) {
    lines.emplace_back(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.size(), lines.back().size() + 1));
  }
  return lines;
}

// Is this why a value was refused? It names the flag, the variable, or the file, the line and the key.
bool is_about(std::string_view line, const Setting& setting) {
  const auto begins_with = [&](std::string_view name) { return line.starts_with(std::string(name) + ":"); };
  return begins_with(setting.flag) || begins_with(setting.variable) ||
         line.find(" " + std::string(setting.key) + ":") != std::string_view::npos;
}

bool names(std::string_view line, std::string_view flag) {
  for (std::size_t at = line.find(flag); at != std::string_view::npos; at = line.find(flag, at + 1)) {
    const std::string_view behind = line.substr(at + flag.size());
    const bool is_longer = !behind.empty() && (behind[0] == '-' || (behind[0] >= 'a' && behind[0] <= 'z'));
    if (!is_longer) return true;
  }
  return false;
}

// What several settings do together counts only if none of them was refused: that one is as if it were not given.
bool follows_from(std::string_view line, const std::vector<std::string>& refused) {
  constexpr std::string_view connection = "the connection ";
  const std::string_view name = line.starts_with(connection)
                                    ? line.substr(connection.size(), line.find(':') - connection.size())
                                    : std::string_view();
  return std::ranges::any_of(refused, [&](const std::string& each) {
    if (!name.empty() && each.find("connections." + std::string(name)) != std::string::npos) return true;
    return std::ranges::any_of(
        all_settings(), [&](const Setting& setting) { return is_about(each, setting) && names(line, setting.flag); });
  });
}

}  // namespace

bool names_tables(const Setting& setting) {
  constexpr std::string_view keys[] = {"data",
                                       "region",
                                       "account",
                                       "outbox.table",
                                       "outbox.ledger",
                                       "outbox.no_status_index",
                                       "outbox.spool",
                                       "messages.table",
                                       "messages.queues",
                                       "reminders.off",
                                       "reminders.table",
                                       "tickets.off",
                                       "tickets.table",
                                       "metrics.off",
                                       "metrics.table",
                                       "metrics.with_emails",
                                       "metrics.subscribers",
                                       "audit.off",
                                       "audit.table",
                                       "keys.off",
                                       "keys.table",
                                       "keys.sealing_key"};
  constexpr std::string_view embedded[] = {"store.durability",     "store.cache_mb",         "store.reserve_mb",
                                           "store.deletion_delay", "store.export_directory", "store.export_buckets"};
  if (setting.key.starts_with("objects.")) return true;  // a server on a shared store must have a place for them
  if (setting.key.starts_with("store.")) return std::ranges::find(embedded, setting.key) == std::end(embedded);
  return std::ranges::find(keys, setting.key) != std::end(keys);
}

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

namespace {

void fill_in_secrets(Settings& settings) {
  constexpr const char* unused = "unused";
  if (!settings.remote.key_id.empty() && settings.remote.secret.empty()) settings.remote.secret = unused;
  if (!settings.objects.key_id.empty() && settings.objects.secret.empty()) settings.objects.secret = unused;
}

}  // namespace

GivenSettings read_settings(const SettingFlags& flags) {
  GivenSettings read;
  Settings& settings = read.settings;
  SettingErrors& errors = read.errors;
  const auto file = flags.config.empty() ? base::Result<void>() : apply_file(settings, flags.config);
  errors.add(file);
  errors.add(apply_environment(settings, [](const std::string& name) { return std::getenv(name.c_str()); }));
  for (const auto& [setting, values] : flags.values)
    errors.add(apply(settings, *setting, values, std::string(setting->flag)));
  using enum base::ErrorCode;
  if (!file && (file.error().code == not_found || file.error().code == malformed)) return read;  // much is missing
  if (flags.calls_nothing) fill_in_secrets(settings);
  SettingErrors together;
  together.add(check(settings));
  if (flags.all_count)
    for (std::string& each : settings_without_effect(settings)) together.add(std::move(each));
  const std::vector<std::string> refused = lines_of(errors.result());
  for (std::string& line : lines_of(together.result()))
    if (!follows_from(line, refused)) errors.add(std::move(line));
  return read;
}

base::Result<Settings> settings_of(const SettingFlags& flags) {
  GivenSettings read = read_settings(flags);
  TRY_VOID(read.errors.result());
  return std::move(read.settings);
}

base::Result<Settings> embedded_settings_of(const SettingFlags& flags) {
  TRY(Settings settings, settings_of(flags));
  if (settings.store != StoreKind::embedded)
    return base::invalid("this command is for the embedded store, and the settings have --store dynamodb");
  return settings;
}

int report_setting_errors(const Console& console, const base::Error& errors) {
  for (const std::string& line : lines_of(tl::unexpected<base::Error>(errors)))
    report_error(console, {errors.code, line}, misuse);
  return misuse;
}

}  // namespace postino::app
