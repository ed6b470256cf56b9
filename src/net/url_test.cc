#include "net/url.h"

#include <gmock/gmock.h>

#include "net/resolve.h"

namespace postino::net {
namespace {

using ::testing::HasSubstr;

std::string url_problem(std::string_view text) {
  const auto url = Url::parse(text);
  if (url) return "none";
  EXPECT_EQ(url.error().code, base::ErrorCode::invalid) << text;
  return url.error().message;
}

TEST(UrlTest, TakesUrlsApart) {
  const auto plain = Url::parse("http://example.com/a/b?c=d&e=%20");
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->secure);
  EXPECT_EQ(plain->host, "example.com");
  EXPECT_EQ(plain->port, 80);
  EXPECT_EQ(plain->target, "/a/b?c=d&e=%20");
  EXPECT_EQ(plain->authority(), "example.com");

  const auto secure = Url::parse("HTTPS://Mail_1.Example.COM:8443");
  ASSERT_TRUE(secure);
  EXPECT_TRUE(secure->secure);
  EXPECT_EQ(secure->host, "mail_1.example.com");
  EXPECT_EQ(secure->port, 8443);
  EXPECT_EQ(secure->target, "/");
  EXPECT_EQ(secure->authority(), "mail_1.example.com:8443");
  EXPECT_EQ(secure->text(), "https://mail_1.example.com:8443/");
}

TEST(UrlTest, ShowsAUrlInItsShortestForm) {
  const std::pair<std::string_view, std::string_view> forms[] = {
      {"http://a", "http://a/"},
      {"http://a:80/x", "http://a/x"},
      {"https://a:443/x", "https://a/x"},
      {"http://a:443/", "http://a:443/"},
      {"https://a:80/", "https://a:80/"},
      {"http://a?q", "http://a/?q"},
      {"http://a#part", "http://a/"},
      {"http://a/b#part?no/query@host", "http://a/b"},
      {"http://a/b?c#part", "http://a/b?c"},
      {"http://a?u=http://b@c:1/", "http://a/?u=http://b@c:1/"},
      {"http://a/@:", "http://a/@:"},
      {"http://[::1]/", "http://[::1]/"},
      {"https://[2001:DB8::1]:8000/x", "https://[2001:db8::1]:8000/x"},
      {"http://10.1.2.3:65535/", "http://10.1.2.3:65535/"},
      {"http://a.b.:1/", "http://a.b.:1/"},
      {"http://1a.2b/", "http://1a.2b/"},
  };
  for (const auto& [given, shown] : forms) {
    const auto url = Url::parse(given);
    ASSERT_TRUE(url) << given << ": " << url.error().message;
    EXPECT_EQ(url->text(), shown);
    EXPECT_EQ(Url::parse(shown)->text(), shown);
  }
}

TEST(UrlTest, IsShownWithoutUserAndPassword) {
  EXPECT_EQ(without_credentials("https://user:secret@a.example:8000/x?y=z@w"), "https://a.example:8000/x?y=z@w");
  EXPECT_EQ(without_credentials("http://us@er:sec@ret@a"), "http://a");
  EXPECT_EQ(without_credentials("user:secret@a/b"), "a/b");
  for (const std::string_view text : {"https://a.example/@b", "https://a.example?b@c", "https://a.example", "", "//"})
    EXPECT_EQ(without_credentials(text), text);
}

TEST(UrlTest, NamesTheRuleThatIsBroken) {
  for (const std::string_view text : {"", "example.com", "/path", "//example.com/", "ftp://a/", "http:/a", "http:a",
                                      "file:///a", "httpss://a/", "javascript:alert(1)"})
    EXPECT_EQ(url_problem(text), "must begin with http:// or https://") << text;
  for (const std::string_view text : {"http://", "http:///path", "https://?a", "http://#a", "http://:80/"})
    EXPECT_EQ(url_problem(text), "must have a host") << text;
  for (const std::string_view text : {"http://user@a/", "http://user:secret@a/", "http://@a/", "http://a\\@b/"})
    EXPECT_EQ(url_problem(text), "must not have a user or password") << text;
  for (const std::string_view text : {"http://a b/", "http://a/ ", "http://a/\r\nX: y", "http://a/\t", "http://a/\x7F",
                                      "http://\xC3\xA4/", "http://a/\xC3\xA4", " http://a/"})
    EXPECT_EQ(url_problem(text), "must not have spaces, control characters or characters beyond ASCII") << text;
  EXPECT_THAT(url_problem(std::string_view("http://a/\0b", 11)), HasSubstr("control characters"));
  for (const std::string_view text : {"http://a:0/", "http://a:65536/", "http://a:/", "http://a:x/", "http://a:+1/",
                                      "http://a:-1/", "http://a:80x/", "http://a:000080/", "http://[::1]:/"})
    EXPECT_EQ(url_problem(text), "must have a port from 1 to 65535, or none") << text;
  for (const std::string_view text :
       {"http://a!b/", "http://a\\b/", "http://a%2eb/", "http://.a/", "http://a..b/", "http://./", "http://[]/",
        "http://[::1/", "http://[::1]x/", "http://[a]/", "http://[1.2.3.4]/", "http://[fe80::1%25eth0]/",
        "http://[fe80::1%eth0]/", "http://x[::1]/"})
    EXPECT_EQ(url_problem(text), "must have a host that is a name or an IP address (IPv6 in brackets)") << text;
}

// 127.0.0.1 in disguises that the resolvers of many systems see through.
TEST(UrlTest, TakesNoNumbersForNames) {
  for (const std::string host : {"2130706433", "0x7f000001", "0x7F.1", "127.1", "127.0.1", "0177.0.0.1", "017700000001",
                                 "1.2.3.4.5", "256.1.1.1", "127.0.0.1.", "0x", "a.0x7f", "a.1", "::1"})
    EXPECT_NE(url_problem("http://" + host + "/"), "none") << host;
}

TEST(UrlTest, HasAtMost2048Bytes) {
  const std::string start = "http://a/";
  EXPECT_EQ(url_problem(start + std::string(2048 - start.size(), 'x')), "none");
  EXPECT_EQ(url_problem(start + std::string(2049 - start.size(), 'x')), "must not have more than 2048 bytes");
  EXPECT_EQ(url_problem("http://" + std::string(253, 'x')), "none");
  EXPECT_THAT(url_problem("http://" + std::string(254, 'x')), HasSubstr("host"));
}

std::vector<std::string> hosts_of(const std::string& name) {
  const auto addresses = resolve(name, 8025, deadline_in(std::chrono::seconds(60)));
  if (!addresses) return {addresses.error().message};
  std::vector<std::string> hosts;
  for (const Address& address : *addresses) {
    EXPECT_EQ(address.port, 8025);
    hosts.push_back(address.host);
  }
  return hosts;
}

TEST(ResolveTest, AnAddressStandsForItselfEvenWhenThereIsNoTime) {
  for (const std::string host : {"192.0.2.7", "::1", "2001:db8::7"}) {
    const auto addresses = resolve(host, 25, Deadline());
    ASSERT_TRUE(addresses) << host;
    ASSERT_EQ(addresses->size(), 1U);
    EXPECT_EQ(addresses->front().host, host);
    EXPECT_EQ(addresses->front().port, 25);
  }
}

TEST(ResolveTest, LocalhostIsThisMachine) {
  for (const std::string name : {"localhost", "LocalHost", "localhost.", "a.localhost"})
    EXPECT_THAT(hosts_of(name), testing::ElementsAre("127.0.0.1", "::1")) << name;
}

TEST(ResolveTest, SaysThatThereIsNoSuchName) {
  for (const std::string& name : {std::string("does-not-exist.invalid"), std::string("notlocalhost.invalid"),
                                  std::string(), std::string("a\0b", 3), std::string(300, 'x')}) {
    const auto addresses = resolve(name, 25, deadline_in(std::chrono::seconds(60)));
    ASSERT_FALSE(addresses) << name;
    EXPECT_EQ(addresses.error().code, base::ErrorCode::io);
    EXPECT_THAT(addresses.error().message, testing::StartsWith("cannot find '" + name + "': "));
  }
}

TEST(ResolveTest, EndsAtTheDeadline) {
  const auto addresses = resolve("does-not-exist.invalid", 25, Deadline());
  ASSERT_FALSE(addresses);
  EXPECT_EQ(addresses.error().code, base::ErrorCode::io);
}

// The system's resolver takes numbers for addresses. What it makes of them is what counts.
TEST(ResolveTest, ShowsTheAddressBehindANumber) {
  for (const std::string host : {"2130706433", "0x7f.1", "127.1", "0177.0.0.1"}) {
    const auto addresses = resolve(host, 80, deadline_in(std::chrono::seconds(60)));
    if (!addresses) continue;
    for (const Address& address : *addresses) EXPECT_FALSE(is_public(address)) << host << " is " << address.host;
  }
}

TEST(PublicAddressTest, KnowsTheSpecialRangesOfIpv4ByTheirEdges) {
  struct Edge {
    const char* before;  // public, or empty where another special range ends
    const char* first;
    const char* last;
    const char* after;
  };
  constexpr Edge edges[] = {
      {"", "0.0.0.0", "0.255.255.255", "1.0.0.0"},
      {"9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"},
      {"100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"},
      {"126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"},
      {"169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"},
      {"172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"},
      {"191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"},
      {"192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"},
      {"192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"},
      {"192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"},
      {"198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"},
      {"198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"},
      {"203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"},
      {"223.255.255.255", "224.0.0.0", "239.255.255.255", ""},
      {"", "240.0.0.0", "255.255.255.255", ""},
  };
  for (const Edge& edge : edges) {
    EXPECT_FALSE(is_public({edge.first, 80})) << edge.first;
    EXPECT_FALSE(is_public({edge.last, 80})) << edge.last;
    for (const std::string neighbour : {edge.before, edge.after})
      EXPECT_TRUE(neighbour.empty() || is_public({neighbour, 80})) << neighbour;
    // The same inside of IPv6.
    for (const std::string prefix : {"::ffff:", "64:ff9b::"}) {
      EXPECT_FALSE(is_public({prefix + edge.first, 80})) << prefix << edge.first;
      EXPECT_FALSE(is_public({prefix + edge.last, 80})) << prefix << edge.last;
      for (const std::string neighbour : {edge.before, edge.after})
        EXPECT_TRUE(neighbour.empty() || is_public({prefix + neighbour, 80})) << prefix << neighbour;
    }
  }
}

TEST(PublicAddressTest, KnowsTheSpecialRangesOfIpv6) {
  for (const std::string host : {"::",
                                 "::1",
                                 "::2",
                                 "::127.0.0.1",
                                 "::8.8.8.8",
                                 "::ffff:0:8.8.8.8",
                                 "64:ff9b:1::1",
                                 "64:ff9b:1:ffff::8.8.8.8",
                                 "64:ff9b:2::1",
                                 "100::",
                                 "100::ffff",
                                 "100:0:0:1::1",
                                 "2001::",
                                 "2001::1",
                                 "2001:0:4136:e378:8000:63bf:3fff:fdd2",
                                 "2001:2::1",
                                 "2001:10::1",
                                 "2001:20::1",
                                 "2001:1ff:ffff::",
                                 "2001:db8::",
                                 "2001:db8:ffff:ffff::1",
                                 "2002:a00:1::",
                                 "2002:7f00:1::1",
                                 "2002:c0a8:101::1",
                                 "2002:a9fe:a9fe::",
                                 "3fff::",
                                 "3fff:fff:ffff::",
                                 "4000::",
                                 "5f00::",
                                 "5f00:ffff::1",
                                 "fc00::",
                                 "fd12:3456::1",
                                 "fdff:ffff::",
                                 "fe80::",
                                 "fe80::1",
                                 "febf:ffff::",
                                 "fec0::1",
                                 "feff:ffff::",
                                 "ff00::",
                                 "ff02::1",
                                 "ffff:ffff::"})
    EXPECT_FALSE(is_public({host, 80})) << host;
  for (const std::string host :
       {"2000::", "2001:200::", "2001:4860:4860::8888", "2001:db7:ffff::", "2001:db9::", "2002:808:808::1", "2003::1",
        "2606:4700::1111", "2a00:1450::1", "3ffe::", "3fff:1000::", "3fff:ffff::"})
    EXPECT_TRUE(is_public({host, 80})) << host;
}

TEST(PublicAddressTest, WhatIsNoAddressIsNotPublic) {
  for (const std::string& host :
       {std::string(), std::string("example.com"), std::string("8.8.8"), std::string("0x8.8.8.8"),
        std::string("[2606:4700::1111]"), std::string("2606:4700::1111%eth0"), std::string("8.8.8.8 ")})
    EXPECT_FALSE(is_public({host, 80})) << host;
}

}  // namespace
}  // namespace postino::net
