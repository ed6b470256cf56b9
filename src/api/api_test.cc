// What can be told of the API without an outbox behind it: paths, queries, problems, and its description.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "api/openapi.h"
#include "api/router.h"
#include "api/schemas.h"
#include "api/statistics.h"
#include "api/target.h"
#include "base/text.h"
#include "json/pointer_testing.h"

namespace postino::api {
namespace {

using json::Element;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::Pair;

// The operation with the parameters of its path, or the code of the problem.
std::string route(std::string_view method, std::string_view path) {
  static const Router router(all_routes());
  const auto match = router.find(method, path);
  if (!match) return std::string(match.error().type.code);
  std::string text(match->route->operation);
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

TEST(Problem, IsWrittenAsRfc9457HasIt) {
  json::FieldErrors errors;
  errors.add("data[0].to", "is required");
  errors.add("data[0].\"x\"", "is not known");
  const Problem problem = refuse_fields(problems::invalid_request, errors).value();
  EXPECT_EQ(to_json(problem, "id-1"),
            R"({"type":"urn:postino:problem:INVALID_REQUEST","title":"The request breaks a rule","status":400,)"
            R"("detail":"data[0].to is required, and 1 more rule is broken.","code":"INVALID_REQUEST",)"
            R"("errors":[{"field":"data[0].to","rule":"is required"},)"
            R"({"field":"data[0].\"x\"","rule":"is not known"}],"request_id":"id-1"})");
}

TEST(Problem, ErrorsOfTheOutboxBecomeStatuses) {
  using base::ErrorCode;
  const auto status = [](ErrorCode code) { return problem_of({code, "words"}, problems::email_not_found).type.status; };
  EXPECT_EQ(status(ErrorCode::invalid), 400);
  EXPECT_EQ(status(ErrorCode::malformed), 400);
  EXPECT_EQ(status(ErrorCode::not_found), 404);
  EXPECT_EQ(status(ErrorCode::conflict), 409);
  EXPECT_EQ(status(ErrorCode::exhausted), 503);
  EXPECT_EQ(status(ErrorCode::io), 503);
  EXPECT_EQ(status(ErrorCode::corrupt), 500);
}

TEST(Problem, WhatIsNoFaultOfTheCallerIsToldToTheLogAlone) {
  for (const base::ErrorCode code : {base::ErrorCode::io, base::ErrorCode::exhausted, base::ErrorCode::corrupt}) {
    const Problem problem = problem_of({code, "/var/lib: no space"}, problems::email_not_found);
    EXPECT_THAT(to_json(problem, "id"), Not(HasSubstr("/var/lib")));
    EXPECT_EQ(problem.cause, "/var/lib: no space");
  }
  const Problem conflict = problem_of({base::ErrorCode::conflict, "it is SENT"}, problems::email_not_found);
  EXPECT_EQ(conflict.detail, "It is SENT.");
}

TEST(Problem, ThoseThatPassSayWhenToComeAgain) {
  EXPECT_THAT(problem_of({base::ErrorCode::io, ""}, {}).headers, ElementsAre(Pair("Retry-After", "1")));
  EXPECT_THAT(refuse(problems::overloaded, "").value().headers, ElementsAre(Pair("Retry-After", "1")));
  EXPECT_THAT(refuse(problems::idempotency_key_in_progress, "").value().headers, ElementsAre(Pair("Retry-After", "1")));
}

class OpenApi : public testing::Test {
 protected:
  OpenApi() : text_(openapi_document(all_routes())) {
    json::FieldErrors errors;
    EXPECT_TRUE(document_.parse(text_, errors));
  }

  std::optional<Element> find(std::string_view pointer) const { return json::find_at(document_.root(), pointer); }
  Element at(std::string_view pointer) const { return find(pointer).value(); }

  static std::map<std::string, Element> members(Element object) {
    std::map<std::string, Element> members;
    EXPECT_TRUE(object.is_object());
    for (const auto& [name, value] : object.members())
      EXPECT_TRUE(members.emplace(name, value).second) << name << " twice";
    return members;
  }

  // Every "$ref" below the element.
  static void collect_references(Element element, std::set<std::string>& references) {
    for (const Element each : element.elements()) collect_references(each, references);
    if (!element.is_object()) return;
    for (const auto& [name, value] : members(element)) {
      if (name == "$ref") references.emplace(value.text().value());
      collect_references(value, references);
    }
  }

  const std::string text_;
  json::Document document_;
};

TEST_F(OpenApi, DescribesEveryRouteAndNothingElse) {
  std::set<std::string> described;
  for (const auto& [path, operations] : members(at("/paths")))
    for (const auto& [method, operation] : members(operations)) described.insert(base::upper_case(method) + " " + path);
  std::set<std::string> routed;
  for (const Route& route : all_routes())
    EXPECT_TRUE(routed.insert(std::string(route.method) + " " + std::string(route.path)).second) << route.path;
  EXPECT_EQ(described, routed);
}

TEST_F(OpenApi, EveryReferenceLeadsSomewhere) {
  std::set<std::string> references;
  collect_references(document_.root(), references);
  EXPECT_FALSE(references.empty());
  for (const std::string& reference : references) {
    ASSERT_TRUE(reference.starts_with("#/")) << reference;
    EXPECT_TRUE(find(reference.substr(1))) << reference;
  }
  for (const Schema& schema : all_schemas())
    EXPECT_TRUE(references.contains("#/components/schemas/" + std::string(schema.name)))
        << schema.name << " is not used";
}

TEST_F(OpenApi, ParametersOfThePathAreThoseOfThePattern) {
  for (const Route& route : all_routes()) {
    std::set<std::string> named;
    for (std::string_view rest = route.path; rest.find('{') != std::string_view::npos;) {
      rest.remove_prefix(rest.find('{') + 1);
      named.emplace(rest.substr(0, rest.find('}')));
    }
    std::set<std::string> described;
    for (const Parameter& parameter : route.parameters)
      if (parameter.place == Place::path) described.emplace(parameter.name);
    EXPECT_EQ(described, named) << route.path;
  }
}

TEST_F(OpenApi, OperationsHaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Route& route : all_routes()) {
    EXPECT_TRUE(names.insert(route.operation).second) << route.operation;
    EXPECT_FALSE(route.summary.empty()) << route.operation;
    EXPECT_NE(route.handle, nullptr) << route.operation;
  }
}

TEST_F(OpenApi, RoutesPromiseWhatComesWithTheirRoleAndBody) {
  for (const Route& route : all_routes()) {
    std::vector<int> statuses;
    for (const Answer& answer : all_answers(route)) statuses.push_back(answer.status);
    EXPECT_EQ(std::set(statuses.begin(), statuses.end()).size(), statuses.size()) << route.operation;
    EXPECT_LT(statuses.front(), 300) << route.operation;
    std::vector<int> promised{400, 500};
    if (route.role != Role::anyone) promised.insert(promised.end(), {401, 403, 503});
    if (!route.body.contents.empty()) promised.insert(promised.end(), {413, 415});
    if (route.path.find("{id}") != std::string_view::npos) promised.push_back(404);
    EXPECT_THAT(statuses, IsSupersetOf(promised)) << route.operation;
  }
}

TEST_F(OpenApi, OnlyHealthAndDescriptionNeedNoKey) {
  std::set<std::string_view> open;
  for (const Route& route : all_routes())
    if (route.role == Role::anyone) open.insert(route.path);
  EXPECT_EQ(open, (std::set<std::string_view>{"/health-check", "/openapi.json"}));
  EXPECT_EQ(at("/paths/~1health-check/get/security").elements().size(), 0U);
  EXPECT_FALSE(find("/paths/~1emails/get/security"));
}

TEST_F(OpenApi, ReadersChangeNothingAndSendersOnlySendAndCancel) {
  for (const Route& route : all_routes()) {
    if (route.role == Role::anyone) continue;
    const bool sends =
        std::set<std::string_view>{"acceptEmails", "cancelEmail", "produceMessages", "consumeMessages"}.contains(
            route.operation);
    const Role expected = route.method == "GET" ? Role::readers : sends ? Role::senders : Role::operators;
    EXPECT_EQ(route.role, expected) << route.operation;
  }
}

TEST_F(OpenApi, EveryPostTakesAnIdempotencyKey) {
  for (const Route& route : all_routes()) {
    std::set<std::string_view> headers;
    for (const Parameter& parameter : route.parameters) {
      if (parameter.place != Place::header) continue;
      EXPECT_TRUE(headers.insert(parameter.name).second) << route.operation;
    }
    std::vector<int> statuses;
    for (const Answer& answer : all_answers(route)) statuses.push_back(answer.status);
    const bool takes_key = headers == std::set<std::string_view>{"Idempotency-Key", "Idempotency-Expiry-Seconds"};
    EXPECT_EQ(takes_key, route.method == "POST") << route.operation;
    if (!takes_key) continue;
    EXPECT_THAT(statuses, IsSupersetOf({409, 422})) << route.operation;
  }
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
