#include <toml++/toml.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "app/console/suggestion.h"
#include "app/settings/settings.h"

namespace postino::app {

namespace {

std::string text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  std::ostringstream out;
  node.visit([&](const auto& each) { out << each; });
  return out.str();
}

std::vector<std::string> values_of(const toml::node& node, bool takes_list) {
  const toml::array* const list = takes_list ? node.as_array() : nullptr;
  if (list == nullptr) return {text_of(node)};
  std::vector<std::string> values;
  for (const toml::node& element : *list) values.push_back(text_of(element));
  return values;
}

const Setting* find_file_setting(const std::string& key) {
  const auto found = std::ranges::find_if(
      all_settings(), [&](const Setting& setting) { return setting.key == key || setting.former_key == key; });
  return found == all_settings().end() ? nullptr : &*found;
}

std::string suggested_setting(const std::string& key) {
  std::vector<std::string> known;
  for (const Setting& setting : all_settings()) known.emplace_back(setting.key);
  return did_you_mean(key, known);
}

// The settings that a file has named so far.
using NamedSettings = std::set<const Setting*>;

base::Result<void> apply_value(Settings& settings, NamedSettings& named, const std::string& key, const toml::node& node,
                               const std::string& origin) {
  constexpr std::string_view connections = "messages.connections.";
  if (key.starts_with(connections)) {
    const std::string inner = key.substr(connections.size());
    return apply(settings.messages.connections, inner, values_of(node, takes_list(inner)), origin);
  }
  const Setting* setting = find_file_setting(key);
  if (setting == nullptr) return base::invalid(origin + ": unknown setting" + suggested_setting(key));
  if (!named.insert(setting).second)  // TOML refuses a key that is given twice, so this is the other key
    return base::invalid(origin + ": " + std::string(setting->key) + " and " + std::string(setting->former_key) +
                         " are the same setting: give " + std::string(setting->key) + " only");
  return apply(settings, *setting, values_of(node, setting->kind == SettingKind::list), origin);
}

base::Result<void> apply_table(Settings& settings, NamedSettings& named, const toml::table& table,
                               const std::string& prefix, const std::string& file) {
  SettingErrors errors;
  for (const auto& [name, node] : table) {
    const std::string key = prefix + std::string(name.str());
    const std::string origin = file + ":" + std::to_string(node.source().begin.line) + ": " + key;
    if (const toml::table* inner = node.as_table())
      errors.add(apply_table(settings, named, *inner, key + ".", file));
    else
      errors.add(apply_value(settings, named, key, node, origin));
  }
  return errors.result();
}

}  // namespace

base::Result<void> apply_file(Settings& settings, const std::filesystem::path& file) {
  std::error_code error;  // a folder that may not be searched is no reason to end
  if (!std::filesystem::is_regular_file(file, error))
    return base::fail(base::ErrorCode::not_found, "there is no configuration file '" + file.string() + "'");
  try {
    const toml::table table = toml::parse_file(file.string());
    NamedSettings named;
    return apply_table(settings, named, table, "", file.string());
  } catch (const toml::parse_error& error) {
    const auto& place = error.source().begin;
    return base::fail(base::ErrorCode::malformed, file.string() + ":" + std::to_string(place.line) + ":" +
                                                      std::to_string(place.column) + ": " +
                                                      std::string(error.description()));
  }
}

}  // namespace postino::app
