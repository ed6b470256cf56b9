#include "remote/calls/verdict.h"

#include <gtest/gtest.h>

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
  const Verdict never = no_answer("connection refused", false, false);
  EXPECT_FALSE(never.may_be_done);
  EXPECT_EQ(never.error.type, ErrorType::service_unavailable);
  const Verdict lost = no_answer("connection reset", true, true);
  EXPECT_TRUE(lost.may_be_done);
  EXPECT_TRUE(lost.is_timeout);
  EXPECT_EQ(lost.error.type, ErrorType::internal_server_error);
}

TEST(VerdictTest, APageOfAProxyIsNoAnswer) {
  const Verdict verdict = judge_foreign_answer(200, "text/html");
  EXPECT_EQ(verdict.next, Next::try_later);
  EXPECT_TRUE(verdict.may_be_done);
  EXPECT_EQ(verdict.error.message,
            "it is not known whether it was done: the answer is not DynamoDB's: status 200, text/html");
  EXPECT_EQ(judge_foreign_answer(413, "").error.type, ErrorType::validation);
}

}  // namespace
}  // namespace postino::remote
