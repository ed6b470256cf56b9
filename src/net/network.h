// Networks of IP addresses: 10.0.0.0/8, 2001:db8::/32, or one address.
#pragma once

#include <array>
#include <optional>
#include <string>

namespace postino::net {

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
