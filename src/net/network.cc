#include "net/network.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace postino::net {

namespace {

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
  if (::inet_pton(AF_INET, text.c_str(), address.bytes.data() + mapped_offset) == 1) {
    address.is_ipv4 = true;
    address.bytes[mapped_offset - 1] = 0xFF;
    address.bytes[mapped_offset - 2] = 0xFF;
    return address;
  }
  if (::inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1) return address;
  return std::nullopt;
}

std::optional<int> parse_bits(std::string_view text, int most) {
  int bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
  if (text.empty() || text.size() > 3 || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (bits < 0 || bits > most) return std::nullopt;
  return bits;
}

}  // namespace

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
