#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/protocol/target.h"
#include "api/route_list.h"
#include "api/router.h"
#include "api/statistics.h"

namespace postino::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// The operation with the parameters of its path, or the code of the problem.
std::string route(std::string_view method, std::string_view path) {
  static const Router router(all_routes());
  const auto match = router.find(method, path);
  if (!match) return std::string(match.error().type.code);
  std::string text(match->route->operation.id);
  for (const auto& [name, value] : match->parameters) text.append(" ").append(name).append("=").append(value);
  return text;
}

TEST(Router, FindsTheRouteAndTheParametersOfThePath) {
  EXPECT_EQ(route("POST", "/emails"), "acceptEmails");
  EXPECT_EQ(route("GET", "/emails"), "listEmails");
  EXPECT_EQ(route("GET", "/emails/7"), "getEmail id=7");
  EXPECT_EQ(route("POST", "/emails/7/cancel"), "cancelEmail id=7");
  EXPECT_EQ(route("DELETE", "/suppressions/ann@example.com"), "unsuppressAddress address=ann@example.com");
}

TEST(Router, NameBeatsParameter) {
  EXPECT_EQ(route("GET", "/emails/counts"), "countEmails");
  EXPECT_EQ(route("GET", "/emails/count"), "getEmail id=count");
  EXPECT_EQ(route("GET", "/emails/counts/message"), "getMessage id=counts");
}

TEST(Router, FormerPathsLeadToTheSame) {
  for (const std::string_view path : {"/emails/stale", "/stale-emails"})
    EXPECT_EQ(route("GET", path), "listStaleEmails") << path;
  for (const std::string_view path : {"/emails/invalid", "/invalid-emails"})
    EXPECT_EQ(route("GET", path), "listInvalidEmails") << path;
}

TEST(Router, HeadGoesWhereGetGoes) {
  EXPECT_EQ(route("HEAD", "/emails/7"), "getEmail id=7");
  EXPECT_EQ(route("HEAD", "/emails/7/cancel"), "METHOD_NOT_ALLOWED");
}

TEST(Router, SegmentsAreDecodedAfterTheyAreSplit) {
  EXPECT_EQ(route("GET", "/emails/a%2Fb"), "getEmail id=a/b");
  EXPECT_EQ(route("PUT", "/suppressions/ann%2Bnews%40example.com"), "suppressAddress address=ann+news@example.com");
  EXPECT_EQ(route("PUT", "/suppressions/ann+news@example.com"), "suppressAddress address=ann+news@example.com");
  EXPECT_EQ(route("GET", "/%65mails"), "listEmails");
}

TEST(Router, BrokenEscapesAndControlCharactersAreRefused) {
  for (const std::string_view path : {"/emails/%", "/emails/%4", "/emails/%4g", "/emails/%00", "/emails/a%0Ab",
                                      "/emails/%7f", "/emails/%u0041", "/nowhere/%"})
    EXPECT_EQ(route("GET", path), "INVALID_REQUEST") << path;
}

TEST(Router, OtherPathsAreNotFound) {
  for (const std::string_view path :
       {"", "/", "emails", "/Emails", "/emails/", "//emails", "/emails//cancel", "/emails/7/", "/emails/7/burn",
        "/emails/7/cancel/8", "*", "http://localhost/emails"})
    EXPECT_EQ(route("POST", path), "NOT_FOUND") << path;
}

TEST(Router, OtherMethodsAreToldWhichThereAre) {
  const Router router(all_routes());
  const auto allowed = [&](std::string_view method, std::string_view path) {
    const auto match = router.find(method, path);
    EXPECT_FALSE(match);
    EXPECT_EQ(match.error().type.status, 405);
    EXPECT_EQ(match.error().headers.at(0).first, "Allow");
    return match.error().headers.at(0).second;
  };
  EXPECT_EQ(allowed("DELETE", "/emails"), "POST, GET, HEAD");
  EXPECT_EQ(allowed("GET", "/emails/7/cancel"), "POST");
  EXPECT_EQ(allowed("POST", "/emails/counts"), "GET, HEAD");
  EXPECT_EQ(allowed("OPTIONS", "/suppressions/a@b"), "PUT, DELETE");
  EXPECT_EQ(allowed("get", "/health-check"), "GET, HEAD");
}

TEST(Query, ValuesAreDecodedAndAPlusIsAPlus) {
  const auto query = Query::parse("from=2026-01-01T00:00:00+01:00&cursor=a%3D%26&&empty=&bare");
  ASSERT_TRUE(query);
  EXPECT_THAT(query->parameters(), ElementsAre(Pair("from", "2026-01-01T00:00:00+01:00"), Pair("cursor", "a=&"),
                                               Pair("empty", ""), Pair("bare", "")));
  EXPECT_EQ(*query->find("cursor"), "a=&");
  EXPECT_EQ(query->find("limit"), nullptr);
}

TEST(Query, FaultsNameTheParameter) {
  const auto field = [](std::string_view text) {
    const auto query = Query::parse(text);
    return query ? "none" : query.error().errors.front().field;
  };
  EXPECT_EQ(field("limit=1&limit=2"), "limit");
  EXPECT_EQ(field("cursor=%zz"), "cursor");
  EXPECT_EQ(field("cursor=%00"), "cursor");
  EXPECT_EQ(field("%=1"), "query");
  EXPECT_EQ(field(""), "none");
}

TEST(ApiStatistics, CountsByRouteAndClassOfStatus) {
  Statistics statistics(all_routes());
  const Route& route = all_routes().front();
  statistics.count(route, 201, std::chrono::milliseconds(2));
  statistics.count(route, 200, std::chrono::milliseconds(20));
  statistics.count(route, 422, std::chrono::seconds(9));
  statistics.count(route, 503, std::chrono::microseconds(1));
  statistics.count_unrouted(404);
  std::string text;
  statistics.append_to(text);
  EXPECT_THAT(text, HasSubstr("postino_api_requests_total{method=\"POST\",route=\"/emails\",status=\"2xx\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("postino_api_requests_total{method=\"POST\",route=\"/emails\",status=\"4xx\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("postino_api_requests_total{method=\"POST\",route=\"/emails\",status=\"5xx\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("postino_api_requests_total{method=\"\",route=\"\",status=\"4xx\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("postino_api_request_seconds_bucket{method=\"POST\",route=\"/emails\",le=\"0.0025\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("postino_api_request_seconds_bucket{method=\"POST\",route=\"/emails\",le=\"+Inf\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("postino_api_request_seconds_count{method=\"POST\",route=\"/emails\"} 4\n"));
}

}  // namespace
}  // namespace postino::api
