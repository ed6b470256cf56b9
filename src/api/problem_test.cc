#include "api/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace postino::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

TEST(Problem, IsWrittenAsRfc9457HasIt) {
  json::FieldErrors errors;
  errors.add("data[0].to", "is required");
  errors.add("data[0].\"x\"", "is not known");
  const Problem problem = refuse_fields(problems::invalid_request, errors).value();
  EXPECT_EQ(to_json(problem, "id-1"),
            R"({"type":"urn:postino:problem:INVALID_REQUEST","title":"The request is invalid","status":400,)"
            R"("detail":"data[0].to is required, and 1 more error.","code":"INVALID_REQUEST",)"
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

}  // namespace
}  // namespace postino::api
