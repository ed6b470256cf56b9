#include "remote/calls/verdict.h"

#include <gtest/gtest.h>

#include "store/retry.h"

namespace postino::remote {
namespace {

using store::ErrorType;
using Next = Verdict::Next;

Verdict verdict_on(const std::string& type, int status = 400, const std::string& message = "m", Api api = Api::data) {
  auto refusal = decode_refusal(status, R"({"__type":"x#)" + type + R"(","message":")" + message + R"("})");
  return judge_refusal(api, status, refusal.value());
}

TEST(VerdictTest, ThrottledCallsComeAgain) {
  for (const char* type : {"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"}) {
    const Verdict verdict = verdict_on(type);
    EXPECT_EQ(verdict.next, Next::try_later) << type;
    EXPECT_TRUE(verdict.is_throttled) << type;
    EXPECT_FALSE(verdict.may_be_done) << type;
    EXPECT_EQ(verdict.trouble, Trouble::throttled) << type;
  }
}

TEST(VerdictTest, OfAnInternalErrorItIsNotKnownWhetherItWasDone) {
  const Verdict verdict = verdict_on("InternalServerError", 500);
  EXPECT_EQ(verdict.next, Next::try_later);
  EXPECT_TRUE(verdict.may_be_done);
  EXPECT_EQ(verdict.trouble, Trouble::unusable);
  EXPECT_EQ(verdict.error.type, ErrorType::internal_server_error);
  EXPECT_EQ(verdict.error.message, "it is not known whether it was done: InternalServerError: m");
}

TEST(VerdictTest, AnUnavailableServiceHasDoneNothing) {
  const Verdict verdict = verdict_on("ServiceUnavailable", 503);
  EXPECT_EQ(verdict.next, Next::try_later);
  EXPECT_FALSE(verdict.may_be_done);
  EXPECT_EQ(verdict.error.type, ErrorType::service_unavailable);
}

TEST(VerdictTest, RefusalsForGoodStay) {
  for (const char* type : {"ValidationException", "ConditionalCheckFailedException", "ResourceNotFoundException",
                           "AccessDeniedException", "TransactionCanceledException", "LimitExceededException"})
    EXPECT_EQ(verdict_on(type).next, Next::give_up) << type;
  for (const char* type : {"ValidationException", "ConditionalCheckFailedException", "TransactionCanceledException"})
    EXPECT_EQ(verdict_on(type).trouble, Trouble::none) << type;
  EXPECT_EQ(verdict_on("AccessDeniedException").trouble, Trouble::denied);
  EXPECT_EQ(verdict_on("ResourceNotFoundException").trouble, Trouble::missing);
}

TEST(VerdictTest, LimitsOnWhatHappensAtTheSameTimePassBy) {
  EXPECT_EQ(
      verdict_on("LimitExceededException", 400,
                 "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table")
          .next,
      Next::try_later);
  EXPECT_EQ(verdict_on("LimitExceededException", 400, "too many tables").next, Next::give_up);
  EXPECT_EQ(verdict_on("LimitExceededException", 400, "too many readers", Api::streams).next, Next::try_later);
  EXPECT_EQ(verdict_on("TransactionInProgressException").next, Next::try_later);
}

TEST(VerdictTest, KeysThatAreNotKnownAreRenewed) {
  for (const char* type : {"ExpiredTokenException", "UnrecognizedClientException", "InvalidSignatureException"})
    EXPECT_EQ(verdict_on(type).next, Next::renew_keys) << type;
}

TEST(VerdictTest, AWrongClockIsCorrected) {
  EXPECT_EQ(verdict_on("RequestTimeTooSkewed").next, Next::correct_time);
  EXPECT_EQ(verdict_on("InvalidSignatureException", 400, "Signature expired: 20260102T030405Z is now earlier").next,
            Next::correct_time);
  EXPECT_EQ(verdict_on("InvalidSignatureException", 400, "Signature not yet current: 20260102T030405Z").next,
            Next::correct_time);
}

TEST(VerdictTest, WhatWasNeverSentIsNotDone) {
  const Verdict never = no_answer("connection refused", false, false, Acquaintance::none);
  EXPECT_FALSE(never.may_be_done);
  EXPECT_EQ(never.error.type, ErrorType::service_unavailable);
  const Verdict lost = no_answer("connection reset", true, true, Acquaintance::none);
  EXPECT_TRUE(lost.may_be_done);
  EXPECT_TRUE(lost.is_timeout);
  EXPECT_EQ(lost.error.type, ErrorType::internal_server_error);
}

TEST(VerdictTest, APageOfAProxyIsNoAnswer) {
  const Verdict verdict = judge_foreign_answer(200, "text/html", Acquaintance::known);
  EXPECT_EQ(verdict.next, Next::try_later);
  EXPECT_TRUE(verdict.may_be_done);
  EXPECT_EQ(verdict.error.message,
            "it is not known whether it was done: the answer is not DynamoDB's: status 200, text/html");
  EXPECT_EQ(judge_foreign_answer(413, "", Acquaintance::known).error.type, ErrorType::validation);
}

TEST(VerdictTest, AnEndpointThatHasNeverAnsweredAsDynamoDBIsProbablyAnother) {
  const Verdict page = judge_foreign_answer(404, "text/html", Acquaintance::none);
  EXPECT_EQ(page.next, Next::try_later);
  EXPECT_EQ(page.error.message, "what is there does not speak DynamoDB: it has answered with status 404, text/html");
  EXPECT_EQ(store::as_error(page.error).message, page.error.message) << "without the name of an exception";
  const std::string no_http = "the server does not answer in proper HTTP";
  EXPECT_EQ(no_answer(no_http, true, false, Acquaintance::none).error.message,
            "what is there does not seem to speak DynamoDB: " + no_http);
  EXPECT_EQ(no_answer("timed out", true, true, Acquaintance::none).error.message,
            "it is not known whether it was done: DynamoDB did not answer: timed out");
}

TEST(VerdictTest, ASecretThatIsNotRightIsNoMissingRight) {
  for (const char* type : {"UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException"})
    EXPECT_EQ(store::as_error(verdict_on(type).error).message,
              "the access key, or its secret, is refused: " + std::string(type) + ": m");
  EXPECT_EQ(store::as_error(verdict_on("RequestTimeTooSkewed").error).message,
            "the time of this machine is refused: RequestTimeTooSkewed: m");
}

TEST(VerdictTest, WhatTheSettingsLackDoesNotComeByWaiting) {
  using enum base::ErrorCode;
  for (const base::ErrorCode code : {not_found, invalid})
    EXPECT_EQ(without_keys({code, "no access keys from the profile p: there is none"}).next, Next::give_up);
  for (const base::ErrorCode code : {io, exhausted})
    EXPECT_EQ(without_keys({code, "the metadata service does not answer"}).next, Next::try_later);
  EXPECT_EQ(store::as_error(without_keys({not_found, "no access keys from p: why"}).error).message,
            "no access keys from p: why");
  EXPECT_EQ(store::as_error(without_keys({io, "why"}).error).message, "there are no access keys: why");
}

}  // namespace
}  // namespace postino::remote
