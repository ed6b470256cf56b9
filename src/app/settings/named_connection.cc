#include "app/settings/named_connection.h"

#include <algorithm>

#include "api/protocol/target.h"
#include "app/console/input_file.h"
#include "app/console/suggestion.h"
#include "app/settings/setting_values.h"
#include "messages/connections.h"
#include "net/url.h"

namespace postino::app {

// A member of a connection's settings, wherever in them it is; the takers of setting_values.h look for these.
template <class T>
T& field(NamedConnection& connection, T NamedConnection::*member) {
  return connection.*member;
}
template <class T>
T& field(NamedConnection& connection, T broker::ConnectionSettings::*member) {
  return connection.amqp.*member;
}
template <class T>
T& field(NamedConnection& connection, T broker::BrokerTls::*member) {
  return connection.amqp.tls.*member;
}
template <class Member>
const auto& field(const NamedConnection& connection, Member member) {
  return field(const_cast<NamedConnection&>(connection), member);
}

namespace {

using broker::AddressStyle;
using broker::BrokerTls;
using broker::Mechanism;
using Amqp = broker::ConnectionSettings;

constexpr Choices<bool, 2> kinds = {{{{"amqp", false}, {"embedded", true}}}};
constexpr Choices<Mechanism, 4> mechanisms = {{{{"automatic", Mechanism::automatic},
                                                {"plain", Mechanism::plain},
                                                {"external", Mechanism::external},
                                                {"anonymous", Mechanism::anonymous}}}};
constexpr Choices<AddressStyle, 5> address_styles = {{{{"automatic", AddressStyle::automatic},
                                                       {"rabbitmq", AddressStyle::rabbitmq},
                                                       {"rabbitmq-declare", AddressStyle::rabbitmq_declare},
                                                       {"rabbitmq-4", AddressStyle::rabbitmq_4},
                                                       {"bare", AddressStyle::bare}}}};

// A setting that every connection has.
struct ConnectionSetting {
  std::string_view key;
  base::Result<void> (*take)(NamedConnection& connection, const std::string& text);
  std::string (*show)(const NamedConnection& connection);
  void (*clear)(NamedConnection& connection) = nullptr;  // of a list, before its elements are taken
};

template <const auto& choices, auto member>
base::Result<void> take_choice(NamedConnection& connection, const std::string& text) {
  TRY(field(connection, member), choices.parse(text));
  return {};
}

template <const auto& choices, auto member>
std::string show_choice(const NamedConnection& connection) {
  return choices.show(field(connection, member));
}

base::Result<void> take_endpoint(NamedConnection& connection, const std::string& text) {
  TRY(HostAndPort address, parse_host_and_port(text));
  connection.amqp.endpoints.push_back({std::move(address.host), address.port});
  return {};
}

base::Result<void> take_management(NamedConnection& connection, const std::string& text) {
  if (!text.empty()) TRY_VOID(net::Url::parse(text));
  connection.management = text;
  return {};
}

std::string show_endpoints(const NamedConnection& connection) {
  std::string list = "[";
  for (const broker::Endpoint& endpoint : connection.amqp.endpoints) {
    if (list.size() > 1) list += ", ";
    list += quoted(endpoint.text());
  }
  return list + "]";
}

const std::vector<ConnectionSetting>& all_connection_settings() {
  static const std::vector<ConnectionSetting> settings = {
      {"type", take_choice<kinds, &NamedConnection::embedded>, show_choice<kinds, &NamedConnection::embedded>},
      {"endpoints", take_endpoint, show_endpoints,
       [](NamedConnection& connection) { connection.amqp.endpoints.clear(); }},
      {"user", take_text<&Amqp::user>, show_text<&Amqp::user>},
      {"password", take_text<&Amqp::password>, show_secret<&Amqp::password>},
      {"password_file", take_text<&NamedConnection::password_file>, show_text<&NamedConnection::password_file>},
      {"password_variable", take_text<&NamedConnection::password_variable>,
       show_text<&NamedConnection::password_variable>},
      {"password_in_clear", take_boolean<&Amqp::allow_password_in_clear>, show_boolean<&Amqp::allow_password_in_clear>},
      {"mechanism", take_choice<mechanisms, &Amqp::mechanism>, show_choice<mechanisms, &Amqp::mechanism>},
      {"virtual_host", take_text<&Amqp::virtual_host>, show_text<&Amqp::virtual_host>},
      {"tls", take_boolean<&BrokerTls::enabled>, show_boolean<&BrokerTls::enabled>},
      {"ca", take_text<&BrokerTls::authorities_file>, show_text<&BrokerTls::authorities_file>},
      {"server_name", take_text<&BrokerTls::server_name>, show_text<&BrokerTls::server_name>},
      {"certificate", take_text<&BrokerTls::certificate_file>, show_text<&BrokerTls::certificate_file>},
      {"key", take_text<&BrokerTls::key_file>, show_text<&BrokerTls::key_file>},
      {"cipher_suite", take_text<&BrokerTls::cipher_suite>, show_text<&BrokerTls::cipher_suite>},
      {"addresses", take_choice<address_styles, &Amqp::address_style>,
       show_choice<address_styles, &Amqp::address_style>},
      {"address_prefix", take_text<&Amqp::address_prefix>, show_text<&Amqp::address_prefix>},
      {"management", take_management, show_text<&NamedConnection::management>},
      {"guard_queue", take_boolean<&Amqp::guard_queue>, show_boolean<&Amqp::guard_queue>},
      {"text_as_value", take_boolean<&Amqp::text_as_value>, show_boolean<&Amqp::text_as_value>},
      {"max_message_bytes", take_integer<&Amqp::max_message_bytes, 1'024, 1 << 30>,
       show_number<&Amqp::max_message_bytes>},
      {"connect_timeout", take_duration<&Amqp::connect_timeout>, show_duration_of<&Amqp::connect_timeout>},
      {"answer_timeout", take_duration<&Amqp::answer_timeout>, show_duration_of<&Amqp::answer_timeout>},
      {"idle_timeout", take_duration<&Amqp::idle_timeout>, show_duration_of<&Amqp::idle_timeout>},
  };
  return settings;
}

const ConnectionSetting* find_connection_setting(std::string_view name) {
  const auto found = std::ranges::find(all_connection_settings(), name, &ConnectionSetting::key);
  return found == all_connection_settings().end() ? nullptr : &*found;
}

// The key is "main.endpoint".
std::string suggested_connection_setting(const std::string& key) {
  std::vector<std::string> known;
  for (const ConnectionSetting& setting : all_connection_settings())
    known.push_back(key.substr(0, key.find('.') + 1) + std::string(setting.key));
  return did_you_mean(key, known);
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') ||
           each == '_' || each == '-';
  });
}

constexpr const char* name_rule = "a connection's name must have 1 to 64 letters, digits, dashes or underscores";

bool is_one_of(std::string_view key, std::initializer_list<std::string_view> keys) {
  return std::ranges::find(keys, key) != keys.end();
}

// Empty if the setting has an effect. The management API uses the same credentials and authorities.
std::string_view why_ignored(std::string_view key, const NamedConnection& connection) {
  const Amqp& amqp = connection.amqp;
  if (connection.embedded) return key == "type" ? "" : "with type = \"embedded\"";
  if (!amqp.tls.enabled && is_one_of(key, {"server_name", "certificate", "key", "cipher_suite"})) return "without tls";
  if (!connection.management.empty()) return "";
  if (!amqp.tls.enabled && key == "ca") return "without tls";
  if (amqp.user.empty() && is_one_of(key, {"password", "password_file", "password_variable"})) return "without user";
  const bool has_identity = amqp.mechanism == Mechanism::automatic || amqp.mechanism == Mechanism::plain;
  if (!has_identity && is_one_of(key, {"user", "password", "password_file", "password_variable"}))
    return "with mechanism = \"external\" or \"anonymous\"";
  return "";
}

struct BrokerUrl {
  bool secure = false;
  std::string user;
  std::string password;
  broker::Endpoint endpoint;
};

// "user:password", each percent-encoded.
bool read_identity(std::string_view text, BrokerUrl& url) {
  const std::size_t colon = text.find(':');
  const auto user = api::percent_decode(text.substr(0, colon));
  const auto password = api::percent_decode(colon == text.npos ? std::string_view() : text.substr(colon + 1));
  if (!user || !password || user->empty()) return false;
  url.user = *user;
  url.password = *password;
  return true;
}

// What was given may hold a password and is not repeated.
base::Result<BrokerUrl> parse_broker_url(std::string_view text) {
  constexpr const char* rule = "must be NAME=amqp://USER:PASSWORD@HOST:PORT, NAME=amqps://... or NAME=embedded";
  BrokerUrl url;
  url.secure = text.starts_with("amqps://");
  if (!url.secure && !text.starts_with("amqp://")) return base::invalid(rule);
  text.remove_prefix(text.find("//") + 2);
  if (text.ends_with('/')) text.remove_suffix(1);
  if (const std::size_t at = text.rfind('@'); at != text.npos) {
    if (!read_identity(text.substr(0, at), url)) return base::invalid(rule);
    text.remove_prefix(at + 1);
  }
  const bool has_port = text.rfind(':') != text.npos && !text.ends_with(']');
  auto address = parse_host_and_port(std::string(text) + (has_port ? "" : url.secure ? ":5671" : ":5672"));
  if (!address) return base::invalid(rule);
  url.endpoint = {std::move(address->host), address->port};
  return url;
}

}  // namespace

base::Result<void> apply(NamedConnections& connections, const std::string& key, const std::vector<std::string>& values,
                         const std::string& origin) {
  const std::size_t dot = key.find('.');
  const std::string name = key.substr(0, dot);
  if (!is_name(name)) return base::invalid(origin + ": " + name_rule);
  const ConnectionSetting* setting = dot == std::string::npos ? nullptr : find_connection_setting(key.substr(dot + 1));
  if (setting == nullptr) return base::invalid(origin + ": unknown setting" + suggested_connection_setting(key));
  NamedConnection& connection = connections[name];
  if (setting->clear != nullptr) setting->clear(connection);
  SettingErrors errors;
  for (const std::string& value : values) {
    const auto taken = value.find(secret_mark) == std::string::npos ? setting->take(connection, value) : mark_refused();
    if (!taken) errors.add(origin + ": " + taken.error().message);
  }
  return errors.result();
}

bool takes_list(std::string_view key) {
  const std::size_t dot = key.find('.');
  const ConnectionSetting* setting = dot == key.npos ? nullptr : find_connection_setting(key.substr(dot + 1));
  return setting != nullptr && setting->clear != nullptr;
}

base::Result<void> add_url(NamedConnections& connections, const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string name = text.substr(0, equals);
  if (!is_name(name)) return base::invalid(name_rule);
  const std::string_view value = std::string_view(text).substr(std::min(equals + 1, text.size()));
  if (value == "embedded") {
    connections[name].embedded = true;
    return {};
  }
  TRY(BrokerUrl url, parse_broker_url(value));
  Amqp& amqp = connections[name].amqp;
  amqp.tls.enabled = url.secure;
  if (!url.user.empty()) amqp.user = std::move(url.user);
  if (!url.password.empty()) amqp.password = std::move(url.password);
  amqp.endpoints.push_back(std::move(url.endpoint));
  return {};
}

std::string show(const NamedConnections& connections, const std::string& prefix) {
  std::string text;
  for (const auto& [name, connection] : connections)
    for (const ConnectionSetting& setting : all_connection_settings())
      text.append(prefix + name + ".").append(setting.key).append(" = " + setting.show(connection) + "\n");
  return text;
}

base::Result<void> check(const NamedConnections& connections) {
  SettingErrors errors;
  for (const auto& [name, connection] : connections) {
    const auto broken = [&errors, &name = name](const std::string& rule) {
      errors.add("the connection " + name + ": " + rule);
    };
    if (name == messages::embedded_connection) broken("the name is reserved for the queues in the store");
    if (connection.embedded) continue;
    const int passwords = static_cast<int>(!connection.amqp.password.empty()) +
                          static_cast<int>(!connection.password_file.empty()) +
                          static_cast<int>(!connection.password_variable.empty());
    if (passwords > 1) broken("only one of password, password_file and password_variable can be given");
    if (const auto checked = connection.amqp.check(); !checked) broken(checked.error().message);
  }
  return errors.result();
}

std::vector<std::string> settings_without_effect(const NamedConnections& connections) {
  static const NamedConnection defaults;
  std::vector<std::string> found;
  for (const auto& [name, connection] : connections)
    for (const ConnectionSetting& setting : all_connection_settings())
      if (setting.show(connection) != setting.show(defaults))
        if (const std::string_view reason = why_ignored(setting.key, connection); !reason.empty())
          found.push_back("messages.connections." + name + "." + std::string(setting.key) + " has no effect " +
                          std::string(reason));
  return found;
}

base::Result<broker::ConnectionSettings> resolve(const NamedConnection& connection, const Variable& variable) {
  constexpr std::size_t most_bytes = 64 << 10;
  broker::ConnectionSettings settings = connection.amqp;
  if (!connection.password_file.empty()) {
    TRY(settings.password, read_input(connection.password_file, most_bytes));
    while (settings.password.ends_with('\n') || settings.password.ends_with('\r')) settings.password.pop_back();
  }
  if (!connection.password_variable.empty()) {
    const char* const password = variable(connection.password_variable);
    if (password == nullptr)
      return base::invalid("the environment variable " + connection.password_variable + " is not set");
    settings.password = password;
  }
  return settings;
}

std::optional<broker::ManagementSettings> management_of(const NamedConnection& connection,
                                                        const broker::ConnectionSettings& resolved) {
  constexpr std::string_view prefix = "vhost:";  // as RabbitMQ wants it over AMQP 1.0
  if (connection.management.empty()) return std::nullopt;
  broker::ManagementSettings settings;
  settings.url = connection.management;
  if (resolved.virtual_host.starts_with(prefix)) settings.virtual_host = resolved.virtual_host.substr(prefix.size());
  settings.user = resolved.user;
  settings.password = resolved.password;
  settings.authorities_file = resolved.tls.authorities_file;
  settings.allow_password_in_clear = resolved.allow_password_in_clear;
  settings.timeout = resolved.answer_timeout;
  return settings;
}

}  // namespace postino::app
