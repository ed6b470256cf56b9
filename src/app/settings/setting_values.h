// How the values of settings are read from text and shown: the pieces that lists of settings are made of.
#pragma once

#include <array>
#include <string>
#include <utility>

#include "app/console/duration_text.h"
#include "app/settings/settings.h"

namespace postino::app {

base::Result<int> parse_integer(const std::string& text, int minimum, int maximum);
base::Result<bool> parse_boolean(const std::string& text);
// Such as eu-west-1.
bool is_region(std::string_view text);
// A name or an IP address, without brackets.
bool is_host(std::string_view text);
struct HostAndPort {
  std::string host;
  std::uint16_t port = 0;
};
base::Result<HostAndPort> parse_host_and_port(const std::string& text);
// A table's name, as DynamoDB has them, that leaves room for others that begin like it.
bool is_table_name(std::string_view text);
std::string quoted(const std::string& text);
// Of the mark that is shown in place of a secret.
base::Result<void> mark_refused();

// The words of a setting that has a few, and what they mean.
template <class Value, std::size_t count>
struct Choices {
  std::array<std::pair<std::string_view, Value>, count> words;

  base::Result<Value> parse(const std::string& text) const {
    std::string rule = "must be one of";
    for (const auto& [word, value] : words) {
      if (text == word) return value;
      rule.append(rule.ends_with("of") ? " " : ", ").append(word);
    }
    return base::invalid(std::move(rule));
  }
  std::string show(Value wanted) const {
    for (const auto& [word, value] : words)
      if (value == wanted) return quoted(std::string(word));
    return quoted("");
  }
};

// A member of the settings, wherever in them it is.
template <class T>
T& field(Settings& settings, T Settings::*member) {
  return settings.*member;
}
template <class T>
T& field(Settings& settings, T RemoteSettings::*member) {
  return settings.remote.*member;
}
template <class T>
T& field(Settings& settings, T AccessSettings::*member) {
  return settings.access.*member;
}
template <class T>
T& field(Settings& settings, T ReminderSettings::*member) {
  return settings.reminders.*member;
}
template <class T>
T& field(Settings& settings, T CapacitySettings::*member) {
  return settings.capacity.*member;
}
template <class T>
T& field(Settings& settings, T TicketSettings::*member) {
  return settings.tickets.*member;
}
template <class T>
T& field(Settings& settings, T ObjectSettings::*member) {
  return settings.objects.*member;
}
template <class T>
T& field(Settings& settings, T MetricsSettings::*member) {
  return settings.metrics.*member;
}
template <class T>
T& field(Settings& settings, T AuditSettings::*member) {
  return settings.audit.*member;
}
template <class T>
T& field(Settings& settings, T BackupSettings::*member) {
  return settings.backups.*member;
}
template <class T>
T& field(Settings& settings, T KeySettings::*member) {
  return settings.keys.*member;
}
template <class T>
T& field(Settings& settings, T http::OriginPolicyOptions::*member) {
  return settings.access.origin_policy.*member;
}
template <class T>
T& field(Settings& settings, T OutboxSettings::*member) {
  return settings.outbox.*member;
}
template <class T>
T& field(Settings& settings, T MysqlSettings::*member) {
  return settings.outbox.mysql.*member;
}
template <class T>
T& field(Settings& settings, T mysql::ServerOptions::*member) {
  return settings.outbox.mysql.server.*member;
}
template <class T>
T& field(Settings& settings, T mysql::TlsOptions::*member) {
  return settings.outbox.mysql.server.tls.*member;
}
template <class T>
T& field(Settings& settings, T mysql::PoolOptions::*member) {
  return settings.outbox.mysql.pool.*member;
}
template <class T>
T& field(Settings& settings, T idempotency::GuardOptions::*member) {
  return settings.idempotency.*member;
}
template <class T>
T& field(Settings& settings, T MessagesSettings::*member) {
  return settings.messages.*member;
}
template <class Member>
const auto& field(const Settings& settings, Member member) {
  return field(const_cast<Settings&>(settings), member);
}

template <auto member, class All>
base::Result<void> take_text(All& settings, const std::string& text) {
  field(settings, member) = text;
  return {};
}

template <auto member, int minimum, int maximum, class All>
base::Result<void> take_integer(All& settings, const std::string& text) {
  TRY(const int number, parse_integer(text, minimum, maximum));
  auto& value = field(settings, member);
  value = std::decay_t<decltype(value)>(number);
  return {};
}

template <auto member, class All>
base::Result<void> take_boolean(All& settings, const std::string& text) {
  TRY(field(settings, member), parse_boolean(text));
  return {};
}

template <auto member, class All>
base::Result<void> take_duration(All& settings, const std::string& text) {
  TRY(field(settings, member), parse_duration(text));
  return {};
}

template <auto member, class All>
base::Result<void> take_table(All& settings, const std::string& text) {
  if (!is_table_name(text)) return base::invalid("must have 3 to 200 letters, digits, dots, dashes or underscores");
  field(settings, member) = text;
  return {};
}

template <auto member, class All>
std::string show_text(const All& settings) {
  return quoted(std::string(field(settings, member)));
}

template <auto member, class All>
std::string show_number(const All& settings) {
  return std::to_string(field(settings, member));
}

template <auto member, class All>
std::string show_boolean(const All& settings) {
  return field(settings, member) ? "true" : "false";
}

template <auto member, class All>
std::string show_duration_of(const All& settings) {
  return quoted(show_duration(field(settings, member)));
}

// Is it there, as far as it can be told: for settings that hold a secret.
template <auto member, class All>
std::string show_secret(const All& settings) {
  return quoted(field(settings, member).empty() ? "" : std::string(secret_mark));
}

}  // namespace postino::app
