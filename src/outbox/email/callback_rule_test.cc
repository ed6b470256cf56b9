#include "outbox/email/callback_rule.h"

#include <gtest/gtest.h>

namespace postino::outbox {
namespace {

TEST(CallbackRule, UrlsIntoPrivateNetworksAreKnownByTheirHost) {
  const Policy policy;
  for (const char* url : {"http://127.0.0.1:9/", "https://localhost/hook", "http://LOCALHOST.:80/",
                          "http://x.localhost/", "http://10.1.2.3/", "http://192.168.0.1/", "http://[::1]/",
                          "http://[fe80::1]/", "http://[::ffff:10.0.0.1]/", "http://169.254.169.254/latest"})
    EXPECT_TRUE(leads_inside(url, policy)) << url;
  for (const char* url : {"", "https://example.com/", "http://8.8.8.8/", "http://[2606:4700::1]/",
                          "http://localhost.com/", "http://intranet/", "not a URL"})
    EXPECT_FALSE(leads_inside(url, policy)) << url;
}

TEST(CallbackRule, TheOperatorMayAllowThem) {
  Policy policy;
  policy.default_callback_url = "http://127.0.0.1/all";
  EXPECT_FALSE(leads_inside("http://127.0.0.1/all", policy)) << "the configured one";
  EXPECT_TRUE(leads_inside("http://127.0.0.1/own", policy));
  policy.private_callbacks = true;
  EXPECT_FALSE(leads_inside("http://127.0.0.1/own", policy));
}

}  // namespace
}  // namespace postino::outbox
