// Where a server listens or a client connects: an IP address and a port.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::net {

struct Address {
  std::string host;  // an IP address, without brackets
  std::uint16_t port = 0;

  // "127.0.0.1:8000", "[::1]:8000" or "localhost:8000", which is 127.0.0.1.
  static base::Result<Address> parse(std::string_view text);

  // Only programs on this machine can reach it.
  bool is_loopback() const;
  std::string text() const;
};

// In the usual form: four decimal numbers, or IPv6's colons, without brackets and zone.
bool is_ipv4(const std::string& text);
bool is_ipv6(const std::string& text);
// Addresses that one client can use at will count as one: the first 64 bits of an IPv6 address, as a text of their own.
// Others, and IPv6 addresses that stand for one of IPv4, are what they are.
std::string network_of(const std::string& address);
// An IP address as peers of a server are called: IPv6 in its shortest form, IPv4 within IPv6 as IPv4. The text itself
// if it is no IP address.
std::string usual_form(const std::string& text);
inline bool is_ip_address(const std::string& text) { return is_ipv4(text) || is_ipv6(text); }

// A network of addresses: 10.0.0.0/8, 2001:db8::/32, or one address.
class Network {
 public:
  // nullopt: it is none. Bits behind the prefix do not count.
  static std::optional<Network> parse(const std::string& text);

  // False for what is no IP address. IPv6 addresses that stand for one of IPv4 are in the networks of IPv4.
  bool contains(const std::string& address) const;

 private:
  std::array<unsigned char, 16> address_{};  // that of IPv4 as IPv6 has it
  int bits_ = 0;                             // of these
};

}  // namespace postino::net
