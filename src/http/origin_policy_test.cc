#include "http/origin_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace postino::http {
namespace {

using testing::IsEmpty;

using RequestHeaders = std::vector<std::pair<std::string_view, std::string_view>>;

Request request_with(RequestHeaders headers) {
  Request request;
  request.method = "POST";
  request.target = "/";
  request.headers = std::move(headers);
  request.peer = "127.0.0.1";
  return request;
}

Request with_host(std::string_view host) { return request_with({{"Host", host}}); }

std::optional<OriginPolicyRule> broken(const OriginPolicy& origin_policy, const Request& request) {
  const auto refusal = origin_policy.check(request);
  return refusal ? std::optional(refusal->rule) : std::nullopt;
}

std::string header_of(const Response& response, std::string_view name) {
  for (const auto& [each, value] : response.headers)
    if (each == name) return value;
  return "";
}

TEST(OriginPolicy, OtherMachinesAreRefused) {
  Request request = with_host("127.0.0.1:8000");
  EXPECT_EQ(broken(OriginPolicy(), request), std::nullopt);
  request.from_loopback = false;
  EXPECT_EQ(broken(OriginPolicy(), request), OriginPolicyRule::loopback);
}

TEST(OriginPolicy, OtherNamesAreRefusedUnlessTheyAreAllowed) {
  for (const std::string_view host : {"localhost", "LOCALHOST:8000", "127.0.0.1", "[::1]:8000", "127.1.2.3:80", ""})
    EXPECT_EQ(broken(OriginPolicy(), with_host(host)), std::nullopt) << host;
  for (const std::string_view host : {"evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil",
                                      "10.1.2.3:80", "8.8.8.8", "0.0.0.0:8000", "[2001:db8::1]:8000"})
    EXPECT_EQ(broken(OriginPolicy(), with_host(host)), OriginPolicyRule::host) << host;

  const OriginPolicy origin_policy({.hosts = {"db.example", "mail.example:8080"}});
  for (const std::string_view host : {"db.example", "DB.example:8000", "mail.example:8080"})
    EXPECT_EQ(broken(origin_policy, with_host(host)), std::nullopt) << host;
  for (const std::string_view host : {"mail.example", "mail.example:80", "x.db.example", "db.example.evil"})
    EXPECT_EQ(broken(origin_policy, with_host(host)), OriginPolicyRule::host) << host;
}

TEST(OriginPolicy, PagesOfOtherOriginsAreRefusedUnlessTheyAreAllowed) {
  const auto from = [](std::string_view origin) {
    return request_with({{"Host", "localhost:8000"}, {"Origin", origin}});
  };
  EXPECT_EQ(broken(OriginPolicy(), from("http://localhost:8000")), std::nullopt);
  const OriginPolicy origin_policy({.origins = {"http://localhost:3000"}});
  EXPECT_EQ(broken(origin_policy, from("http://localhost:3000")), std::nullopt);
  for (const std::string_view origin : {"http://evil.example", "null", "http://localhost:3001", "", "*"}) {
    EXPECT_EQ(broken(OriginPolicy(), from(origin)), OriginPolicyRule::origin) << origin;
    EXPECT_EQ(broken(origin_policy, from(origin)), OriginPolicyRule::origin) << origin;
  }
}

TEST(OriginPolicy, ASecondOriginIsNotOverlooked) {
  const Request request = request_with(
      {{"Host", "localhost:8000"}, {"Origin", "http://localhost:8000"}, {"Origin", "http://evil.example"}});
  EXPECT_EQ(broken(OriginPolicy(), request), OriginPolicyRule::origin);
}

TEST(OriginPolicy, WhatAProxyPassedOnIsRefusedUnlessTheProxyIsTrusted) {
  const OriginPolicy trusting({.proxies = {"127.0.0.1"}});
  const OriginPolicy trusting_another({.proxies = {"127.0.0.2"}});
  for (const std::string_view name :
       {"Forwarded", "X-Forwarded-For", "x-forwarded-host", "X-Forwarded-Proto", "Via", "X-Real-IP"}) {
    const Request request = request_with({{"Host", "127.0.0.1:8000"}, {name, "192.0.2.7"}});
    EXPECT_EQ(broken(OriginPolicy(), request), OriginPolicyRule::forwarded) << name;
    EXPECT_EQ(broken(trusting_another, request), OriginPolicyRule::forwarded) << name;
    EXPECT_EQ(broken(trusting, request), std::nullopt) << name;
  }
  // A page could say that it comes from the proxy: the name must be allowed all the same.
  EXPECT_EQ(broken(trusting, request_with({{"Host", "evil.example"}, {"X-Forwarded-For", "192.0.2.7"}})),
            OriginPolicyRule::host);
}

TEST(OriginPolicy, PreflightsOfAllowedOriginsAreApproved) {
  const OriginPolicy origin_policy({.origins = {"http://localhost:3000"}});
  Request request = request_with({{"Origin", "http://localhost:3000"},
                                  {"Access-Control-Request-Method", "POST"},
                                  {"Access-Control-Request-Headers", "x-amz-target"}});
  request.method = "OPTIONS";
  ASSERT_TRUE(OriginPolicy::is_preflight(request));
  const Response approved = origin_policy.answer_preflight(request);
  EXPECT_EQ(approved.status, 200);
  EXPECT_EQ(header_of(approved, "Access-Control-Allow-Origin"), "http://localhost:3000");
  EXPECT_EQ(header_of(approved, "Access-Control-Allow-Methods"), "POST");
  EXPECT_EQ(header_of(approved, "Access-Control-Allow-Headers"), "x-amz-target");
  EXPECT_EQ(header_of(approved, "Vary"), "Origin");

  const Response refused = OriginPolicy().answer_preflight(request);
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.headers, IsEmpty());
}

TEST(OriginPolicy, OnlyAllowedOriginsMayReadAnswers) {
  const OriginPolicy origin_policy({.origins = {"http://localhost:3000"}});
  for (const std::string_view origin : {"http://localhost:3000", "http://evil.example"}) {
    Response response;
    origin_policy.add_origin(request_with({{"Origin", origin}}), response);
    EXPECT_EQ(header_of(response, "Access-Control-Allow-Origin"), origin == "http://localhost:3000" ? origin : "");
  }
  Response response;
  OriginPolicy().add_origin(request_with({{"Origin", "http://evil.example"}}), response);
  EXPECT_THAT(response.headers, IsEmpty());
}

TEST(OriginPolicy, BehindAProxyTheCallerIsWhereItsLastHopSays) {
  OriginPolicyOptions options;
  options.proxies = {"10.0.0.1"};
  const OriginPolicy policy(options);
  Request request = request_with({{"X-Forwarded-For", "198.51.100.1, 192.0.2.7"}});
  EXPECT_EQ(policy.address_of(request), "127.0.0.1") << "anyone can send the header";
  request.peer = "10.0.0.1";
  EXPECT_EQ(policy.address_of(request), "192.0.2.7");
  EXPECT_EQ(OriginPolicy().address_of(request), "10.0.0.1");
  request.headers = {{"X-Forwarded-For", "somebody"}};
  EXPECT_EQ(policy.address_of(request), "10.0.0.1");
  request.headers.clear();
  EXPECT_EQ(policy.address_of(request), "10.0.0.1");
}

}  // namespace
}  // namespace postino::http
