#include "app/setting_values.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace postino::app {

namespace {

struct Unit {
  std::string_view name;
  std::int64_t milliseconds;
};
// The largest first: a duration is shown in the largest unit it is a multiple of.
constexpr std::array<Unit, 5> units = {{{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};

bool is_letter_or_digit(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9');
}

}  // namespace

base::Result<int> parse_integer(const std::string& text, int minimum, int maximum) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < minimum || number > maximum)
    return base::invalid("must be a whole number from " + std::to_string(minimum) + " to " + std::to_string(maximum));
  return number;
}

base::Result<bool> parse_boolean(const std::string& text) {
  if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "0" || text == "no" || text == "off") return false;
  return base::invalid("must be true or false");
}

base::Result<base::Milliseconds> parse_duration(const std::string& text) {
  constexpr std::int64_t longest_days = 3'660;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Unit& each : units)
    if (error == std::errc() && unit == each.name && number >= 0 &&
        number <= longest_days * units.front().milliseconds / each.milliseconds)
      return base::Milliseconds(number * each.milliseconds);
  return base::invalid("must be a duration such as 250ms, 30s, 5m, 4h or 30d");
}

std::string show_duration(base::Milliseconds duration) {
  for (const Unit& unit : units)
    if (duration.count() >= unit.milliseconds && duration.count() % unit.milliseconds == 0)
      return std::to_string(duration.count() / unit.milliseconds) + std::string(unit.name);
  return "0s";
}

bool is_host(std::string_view text) {
  return !text.empty() && text.size() <= 253 && std::ranges::all_of(text, [](char character) {
    return is_letter_or_digit(character) || character == '-' || character == '.' || character == ':';
  });
}

base::Result<HostAndPort> parse_host_and_port(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return base::invalid("must be HOST:PORT");
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string::npos)
    return base::invalid("must be HOST:PORT, an IPv6 address in brackets");
  if (!is_host(host)) return base::invalid("must be HOST:PORT with a name or an IP address");
  const auto port = parse_integer(text.substr(colon + 1), 1, 65'535);
  if (!port) return base::invalid("must be HOST:PORT with a port from 1 to 65535");
  return HostAndPort{std::move(host), static_cast<std::uint16_t>(*port)};
}

bool is_table_name(std::string_view text) {
  return text.size() >= 3 && text.size() <= 200 && std::ranges::all_of(text, [](char character) {
           return is_letter_or_digit(character) || character == '-' || character == '.' || character == '_';
         });
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') out += '\\';
    out += character;
  }
  return out + "\"";
}

}  // namespace postino::app
