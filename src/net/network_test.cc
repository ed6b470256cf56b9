#include <gtest/gtest.h>

#include "net/address.h"

namespace postino::net {
namespace {

bool is_in(const std::string& address, const std::string& network) {
  const auto parsed = Network::parse(network);
  EXPECT_TRUE(parsed) << network;
  return parsed && parsed->contains(address);
}

TEST(Network, HasTheAddressesWithItsPrefix) {
  EXPECT_TRUE(is_in("10.1.2.3", "10.0.0.0/8"));
  EXPECT_FALSE(is_in("11.1.2.3", "10.0.0.0/8"));
  EXPECT_TRUE(is_in("203.0.113.127", "203.0.113.0/25"));
  EXPECT_FALSE(is_in("203.0.113.128", "203.0.113.0/25"));
  EXPECT_TRUE(is_in("2001:db8:1234::1", "2001:db8::/32"));
  EXPECT_FALSE(is_in("2001:db9::1", "2001:db8::/32"));
  EXPECT_TRUE(is_in("8.8.8.8", "0.0.0.0/0"));
  EXPECT_FALSE(is_in("2001:db8::1", "0.0.0.0/0"));
}

TEST(Network, CanBeOneAddress) {
  EXPECT_TRUE(is_in("192.0.2.7", "192.0.2.7"));
  EXPECT_TRUE(is_in("192.0.2.7", "192.0.2.7/32"));
  EXPECT_FALSE(is_in("192.0.2.8", "192.0.2.7"));
  EXPECT_TRUE(is_in("2001:DB8:0::1", "2001:db8::1"));
}

TEST(Network, TakesIpv4WithinIpv6ForIpv4) { EXPECT_TRUE(is_in("::ffff:10.1.2.3", "10.0.0.0/8")); }

TEST(Network, OfBitsBehindThePrefixNoneCounts) { EXPECT_TRUE(is_in("10.9.9.9", "10.1.2.3/8")); }

TEST(Network, RefusesWhatIsNone) {
  for (const char* text : {"", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x", "10.0.0/8", "host/8",
                           "2001:db8::/129", "10.0.0.0/0000"})
    EXPECT_FALSE(Network::parse(text)) << text;
  EXPECT_FALSE(Network::parse(std::string("10.0.0.0\0", 9)));
}

TEST(Network, HasNothingThatIsNoAddress) {
  EXPECT_FALSE(is_in("", "0.0.0.0/0"));
  EXPECT_FALSE(is_in("localhost", "::/0"));
}

}  // namespace
}  // namespace postino::net
