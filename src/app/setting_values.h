// How the values of settings are read from text and shown: the pieces that lists of settings are made of.
#pragma once

#include <string>
#include <utility>

#include "app/settings.h"

namespace postino::app {

base::Result<int> parse_integer(const std::string& text, int minimum, int maximum);
base::Result<bool> parse_boolean(const std::string& text);
// "250ms", "30s", "5m", "4h" or "30d".
base::Result<base::Milliseconds> parse_duration(const std::string& text);
std::string show_duration(base::Milliseconds duration);
std::string quoted(const std::string& text);

// A member of the settings, wherever in them it is.
template <class T>
T& field(Settings& settings, T Settings::*member) {
  return settings.*member;
}
template <class T>
T& field(Settings& settings, T OutboxSettings::*member) {
  return settings.outbox.*member;
}
template <class Member>
const auto& field(const Settings& settings, Member member) {
  return field(const_cast<Settings&>(settings), member);
}

template <auto member>
base::Result<void> take_text(Settings& settings, const std::string& text) {
  field(settings, member) = text;
  return {};
}

template <auto member, int minimum, int maximum>
base::Result<void> take_integer(Settings& settings, const std::string& text) {
  TRY(const int number, parse_integer(text, minimum, maximum));
  auto& value = field(settings, member);
  value = std::decay_t<decltype(value)>(number);
  return {};
}

template <auto member>
base::Result<void> take_boolean(Settings& settings, const std::string& text) {
  TRY(field(settings, member), parse_boolean(text));
  return {};
}

template <auto member>
base::Result<void> take_duration(Settings& settings, const std::string& text) {
  TRY(field(settings, member), parse_duration(text));
  return {};
}

template <auto member>
std::string show_text(const Settings& settings) {
  return quoted(std::string(field(settings, member)));
}

template <auto member>
std::string show_number(const Settings& settings) {
  return std::to_string(field(settings, member));
}

template <auto member>
std::string show_boolean(const Settings& settings) {
  return field(settings, member) ? "true" : "false";
}

template <auto member>
std::string show_duration_of(const Settings& settings) {
  return quoted(show_duration(field(settings, member)));
}

// Is it there, as far as it can be told: for settings that hold a secret.
template <auto member>
std::string show_secret(const Settings& settings) {
  return quoted(field(settings, member).empty() ? "" : "...");
}

}  // namespace postino::app
