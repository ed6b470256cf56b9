// Which addresses are public, by IANA's registries of special-purpose addresses for IPv4 and IPv6.
#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "base/text.h"
#include "net/resolve.h"

namespace postino::net {

namespace {

using Bytes = std::array<unsigned char, 16>;  // IPv4 uses the first four

struct Range {
  const char* prefix;
  int bits;
};

// The few addresses in these that are public are services of the network itself, none of which is for us to call.
constexpr Range special_v4[] = {
    {"0.0.0.0", 8},        // this host
    {"10.0.0.0", 8},       // private
    {"100.64.0.0", 10},    // shared by customers of a provider
    {"127.0.0.0", 8},      // loopback
    {"169.254.0.0", 16},   // link-local
    {"172.16.0.0", 12},    // private
    {"192.0.0.0", 24},     // protocol assignments
    {"192.0.2.0", 24},     // documentation
    {"192.88.99.0", 24},   // relays to 6to4
    {"192.168.0.0", 16},   // private
    {"198.18.0.0", 15},    // benchmarks
    {"198.51.100.0", 24},  // documentation
    {"203.0.113.0", 24},   // documentation
    {"224.0.0.0", 4},      // multicast
    {"240.0.0.0", 4},      // reserved, broadcast
};

constexpr Range special_v6[] = {
    {"::", 128},          // unspecified
    {"::1", 128},         // loopback
    {"64:ff9b:1::", 48},  // translation within a network
    {"100::", 64},        // discarded
    {"100:0:0:1::", 64},  // dummy
    {"2001::", 23},       // protocol assignments: Teredo, benchmarks, ORCHID and others
    {"2001:db8::", 32},   // documentation
    {"3fff::", 20},       // documentation
    {"5f00::", 16},       // segment routing
    {"fc00::", 7},        // unique local
    {"fe80::", 10},       // link-local
    {"fec0::", 10},       // site-local
    {"ff00::", 8},        // multicast
};

// Only addresses of this range have been assigned so far.
constexpr Range global_unicast_v6 = {"2000::", 3};

// IPv6 addresses that stand for an IPv4 address, and where in them it is.
struct Embedding {
  Range range;
  std::size_t offset;
};
constexpr Embedding embeddings[] = {
    {{"::ffff:0:0", 96}, 12},  // mapped
    {{"64:ff9b::", 96}, 12},   // translated
    {{"2002::", 16}, 2},       // 6to4
};

std::optional<Bytes> parse(int family, const char* text) {
  Bytes bytes{};
  if (::inet_pton(family, text, bytes.data()) != 1) return std::nullopt;
  return bytes;
}

bool is_in(const Bytes& address, const Range& range, int family) {
  const auto prefix = parse(family, range.prefix);
  CHECK(prefix.has_value());
  const auto whole = static_cast<std::size_t>(range.bits / 8);
  if (std::memcmp(address.data(), prefix->data(), whole) != 0) return false;
  const int rest = range.bits % 8;
  return rest == 0 || (address[whole] ^ (*prefix)[whole]) >> (8 - rest) == 0;
}

bool is_public_v4(const Bytes& address) {
  return std::ranges::none_of(special_v4, [&](const Range& range) { return is_in(address, range, AF_INET); });
}

bool is_public_v6(const Bytes& address) {
  for (const auto& [range, offset] : embeddings) {
    if (!is_in(address, range, AF_INET6)) continue;
    Bytes embedded{};
    std::copy_n(address.begin() + static_cast<std::ptrdiff_t>(offset), 4, embedded.begin());
    return is_public_v4(embedded);
  }
  return is_in(address, global_unicast_v6, AF_INET6) &&
         std::ranges::none_of(special_v6, [&](const Range& range) { return is_in(address, range, AF_INET6); });
}

}  // namespace

bool is_public(const Address& address) {
  if (const auto v4 = parse(AF_INET, address.host.c_str())) return is_public_v4(*v4);
  const auto v6 = parse(AF_INET6, address.host.c_str());
  return v6 && is_public_v6(*v6);
}

bool is_surely_private(const std::string& host) {
  if (const auto v4 = parse(AF_INET, host.c_str())) return !is_public_v4(*v4);
  if (const auto v6 = parse(AF_INET6, host.c_str())) return !is_public_v6(*v6);
  std::string name = base::lower_case(host);
  if (name.ends_with('.')) name.pop_back();
  return name == "localhost" || name.ends_with(".localhost");
}

}  // namespace postino::net
