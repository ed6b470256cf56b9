// Settings on the command line: flags for those a command is about, on top of the environment and the file.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/console/console.h"
#include "app/settings/settings.h"

namespace CLI {
class App;
}

namespace postino::app {

// What was given, by setting.
struct SettingFlags {
  std::map<const Setting*, std::vector<std::string>> values;
  std::string config;
  bool calls_nothing = false;  // the command needs no secrets beside the names of keys
  bool all_count = false;  // for a server: settings that would be ignored are refused. Other commands use some of them.
};

// A flag for each setting that `wanted` is true of, and --config. `flags` must outlive the parsing.
void add_setting_flags(CLI::App& command, SettingFlags& flags, const std::function<bool(const Setting&)>& wanted);

// Does it decide which tables the services have, or where they are?
bool names_tables(const Setting& setting);

// The file, the environment and the flags together, checked. What is refused is as if it were not given.
struct GivenSettings {
  Settings settings;
  SettingErrors errors;
};
GivenSettings read_settings(const SettingFlags& flags);
// The same, when nothing is wrong. An error may have several lines, for an error each.
base::Result<Settings> settings_of(const SettingFlags& flags);
// The same for a command that works on the data directory: invalid when the settings name another store.
base::Result<Settings> embedded_settings_of(const SettingFlags& flags);

// Prints the errors of settings, each on a line, and returns the status to end with.
int report_setting_errors(const Console& console, const base::Error& errors);

}  // namespace postino::app
