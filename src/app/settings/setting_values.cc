#include "app/settings/setting_values.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace postino::app {

namespace {

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

bool is_region(std::string_view text) {
  constexpr std::size_t longest = 64;
  return !text.empty() && text.size() <= longest && std::ranges::all_of(text, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-';
  });
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
    return base::invalid("must be HOST:PORT, with an IPv6 address in brackets");
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

base::Result<void> mark_refused() {
  return base::invalid("has " + std::string(secret_mark) + ", which is shown in place of a secret: give the secret");
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
