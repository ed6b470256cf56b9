#include "app/client/rest_problem.h"

#include <gmock/gmock.h>

namespace postino::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

http::ClientResponse response(int status, std::string body) { return {.status = status, .body = std::move(body)}; }

TEST(RestProblem, TellsTitleAndDetail) {
  const base::Error error = describe_problem(response(
      503, R"({"title":"The store does not answer","detail":"Try again in a moment.","code":"STORE_UNAVAILABLE"})"));
  EXPECT_EQ(error.message, "The store does not answer: Try again in a moment");
  EXPECT_EQ(error.code, base::ErrorCode::exhausted);
}

TEST(RestProblem, SaysNothingTwice) {
  const base::Error error = describe_problem(
      response(409, R"({"title":"The state forbids this","detail":"It is SENT.","code":"WRONG_STATE"})"));
  EXPECT_EQ(error.message, "It is SENT");
  EXPECT_EQ(error.code, base::ErrorCode::conflict);
}

TEST(RestProblem, TellsWhyEachEndpointCouldNotBeReached) {
  const base::Error error = describe_problem(
      response(502, R"({"title":"Nobody there","detail":"None answers.","code":"BROKER_UNREACHABLE","request_id":"7",)"
                    R"("endpoints":[{"endpoint":"a:1","reason":"refused"},{"endpoint":"b:2","reason":"timed out"}]})"));
  EXPECT_EQ(error.message, "Nobody there: None answers (request 7)\n  a:1: refused\n  b:2: timed out");
  EXPECT_EQ(error.code, base::ErrorCode::io);
}

TEST(RestProblem, TellsTheRuleThatIsBroken) {
  const base::Error error = describe_problem(
      response(400, R"({"title":"t","detail":"d","errors":[{"field":"status","rule":"must be one"}]})"));
  EXPECT_EQ(error.message, "status must be one");
  EXPECT_EQ(error.code, base::ErrorCode::invalid);
}

TEST(RestProblem, TellsAllRulesThatAreBrokenInTheWordsOfTheCommand) {
  const base::Error error = describe_problem(
      response(400, R"({"errors":[{"field":"data[0].to","rule":"is required"},{"field":"","rule":"must be small"}]})"),
      [](const std::string& field) { return field.substr(std::min<std::size_t>(field.size(), 8)); });
  EXPECT_EQ(error.message, "several fields are invalid:\n  to is required\n  the request must be small");
}

TEST(RestProblem, SaysHowToGiveAKey) {
  EXPECT_EQ(
      describe_problem(
          response(401,
                   R"({"title":"A valid API key is required","detail":"Send a header.","code":"UNAUTHENTICATED"})"))
          .message,
      "A valid API key is required. Give one with --key SECRET, or in the environment as POSTINO_API_KEY");
  EXPECT_THAT(describe_problem(response(403, R"({"title":"no","code":"FORBIDDEN"})")).message,
              HasSubstr("another API key with --key"));
  EXPECT_THAT(describe_problem(response(403, R"({"title":"no","code":"LOOPBACK_ONLY"})")).message,
              Not(HasSubstr("--key")))
      << "where no key helps";
}

TEST(RestProblem, SaysWhenToSignInAgain) {
  EXPECT_EQ(
      describe_problem(response(401, R"({"title":"The session has ended","detail":"POST it.","code":"SESSION_ENDED"})"))
          .message,
      "The session has ended. Sign in again with: postino sessions sign-in");
  EXPECT_EQ(
      describe_problem(
          response(401, R"({"title":"User or password are wrong","detail":"Check it.","code":"SIGN_IN_REFUSED"})"))
          .message,
      "User or password are wrong")
      << "a key does not help";
}

TEST(RestProblem, OfTheServerHasTheRequestToLookFor) {
  const base::Error error = describe_problem(response(500, R"({"title":"Something went wrong","request_id":"r-1"})"));
  EXPECT_EQ(error.message, "Something went wrong (request r-1)");
  EXPECT_EQ(error.code, base::ErrorCode::io);
}

TEST(RestProblem, AnswersOfOthersAreRecognized) {
  EXPECT_EQ(describe_problem(response(404, "<html>")).message, "the server answered 404 Not Found. Is --url right?");
  EXPECT_EQ(describe_problem(response(502, "")).message, "the server answered 502 Bad Gateway. Is --url right?");
  EXPECT_EQ(describe_problem(response(404, "[]")).code, base::ErrorCode::not_found);
}

TEST(RestProblem, IsHarmlessOnATerminal) {
  const base::Error error = describe_problem(
      response(400, R"({"errors":[{"field":"\u001b[2J","rule":"a\nb"},{"field":"x","rule":"\u0007"}]})"));
  EXPECT_EQ(error.message, "several fields are invalid:\n   [2J a b\n  x  ");
  EXPECT_THAT(describe_problem(response(404, R"({"title":"\u009b31m"})")).message, Not(HasSubstr("\xc2\x9b")));
}

}  // namespace
}  // namespace postino::app
