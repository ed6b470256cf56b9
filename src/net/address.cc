#include "net/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <iterator>

namespace postino::net {

namespace {

constexpr std::string_view form = "must be HOST:PORT, where HOST is an IP address or localhost";

// What follows a NUL would not be looked at.
bool parse_v4(const std::string& host, in_addr& out) {
  return host.find('\0') == host.npos && ::inet_pton(AF_INET, host.c_str(), &out) == 1;
}
bool parse_v6(const std::string& host, in6_addr& out) {
  return host.find('\0') == host.npos && ::inet_pton(AF_INET6, host.c_str(), &out) == 1;
}

using AddressBytes = std::array<unsigned char, 16>;

constexpr int ipv4_bits = 32;
constexpr int ipv6_bits = 128;
constexpr std::size_t mapped_offset = 12;  // ::ffff:a.b.c.d

struct ParsedAddress {
  AddressBytes bytes{};
  bool is_ipv4 = false;
};

std::optional<ParsedAddress> parse_address(const std::string& text) {
  ParsedAddress address;
  in_addr v4{};
  in6_addr v6{};
  if (parse_v4(text, v4)) {
    address.is_ipv4 = true;
    address.bytes[mapped_offset - 1] = 0xFF;
    address.bytes[mapped_offset - 2] = 0xFF;
    std::memcpy(address.bytes.data() + mapped_offset, &v4, sizeof v4);
    return address;
  }
  if (!parse_v6(text, v6)) return std::nullopt;
  std::memcpy(address.bytes.data(), &v6, sizeof v6);
  return address;
}

std::optional<int> parse_bits(std::string_view text, int most) {
  int bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
  if (text.empty() || text.size() > 3 || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (bits < 0 || bits > most) return std::nullopt;
  return bits;
}

}  // namespace

base::Result<Address> Address::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return base::invalid(std::string(form));
  Address address;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  address.host = host == "localhost" ? "127.0.0.1" : host;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size() || port.empty())
    return base::invalid("the port must be a number from 0 to 65535");
  if (bracketed ? !is_ipv6(address.host) : !is_ipv4(address.host)) return base::invalid(std::string(form));
  return address;
}

bool Address::is_loopback() const {
  in_addr v4{};
  if (parse_v4(host, v4)) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return parse_v6(host, v6) && IN6_IS_ADDR_LOOPBACK(&v6);
}

std::string Address::text() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool is_ipv4(const std::string& text) {
  in_addr ignored{};
  return parse_v4(text, ignored);
}

bool is_ipv6(const std::string& text) {
  in6_addr ignored{};
  return parse_v6(text, ignored);
}

std::string network_of(const std::string& address) {
  constexpr std::size_t network_bytes = 8;
  in6_addr v6{};
  if (!parse_v6(address, v6) || IN6_IS_ADDR_V4MAPPED(&v6)) return address;
  std::fill(std::begin(v6.s6_addr) + network_bytes, std::end(v6.s6_addr), 0);
  std::array<char, INET6_ADDRSTRLEN> text{};
  return std::string(::inet_ntop(AF_INET6, &v6, text.data(), text.size())) + "/64";
}

std::string usual_form(const std::string& text) {
  std::array<char, INET6_ADDRSTRLEN> shown{};
  in6_addr v6{};
  if (!parse_v6(text, v6)) return text;
  const char* const usual = IN6_IS_ADDR_V4MAPPED(&v6)
                                ? ::inet_ntop(AF_INET, v6.s6_addr + 12, shown.data(), shown.size())
                                : ::inet_ntop(AF_INET6, &v6, shown.data(), shown.size());
  return usual == nullptr ? text : usual;
}

std::optional<Network> Network::parse(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  if (!address) return std::nullopt;
  const int size = address->is_ipv4 ? ipv4_bits : ipv6_bits;
  int bits = size;
  if (slash != std::string::npos) {
    const auto given = parse_bits(std::string_view(text).substr(slash + 1), size);
    if (!given) return std::nullopt;
    bits = *given;
  }
  Network network;
  network.address_ = address->bytes;
  network.bits_ = bits + (ipv6_bits - size);
  return network;
}

bool Network::contains(const std::string& text) const {
  const auto address = parse_address(text);
  if (!address) return false;
  const auto whole = static_cast<std::size_t>(bits_ / 8);
  if (!std::equal(address_.begin(), address_.begin() + static_cast<std::ptrdiff_t>(whole), address->bytes.begin()))
    return false;
  const int rest = bits_ % 8;
  if (rest == 0) return true;
  const int shift = 8 - rest;
  return address_[whole] >> shift == address->bytes[whole] >> shift;
}

}  // namespace postino::net
