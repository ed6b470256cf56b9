#include "remote/protocol/refusal.h"

#include <gtest/gtest.h>

#include "remote/protocol/checksum.h"

namespace postino::remote {
namespace {

using store::ErrorType;

TEST(Refusal, IsAnExceptionOfTheStore) {
  const auto refusal = decode_refusal(
      400, R"({"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"not found"})");
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->type, "ResourceNotFoundException");
  EXPECT_EQ(refusal->error.type, ErrorType::resource_not_found);
  EXPECT_EQ(refusal->error.message, "not found");
  EXPECT_EQ(refusal->error.details, nullptr);
}

TEST(Refusal, HasTheItemThatAConditionSaw) {
  const auto refusal = decode_refusal(400, R"({"__type":"x#ConditionalCheckFailedException","Item":{"pk":{"S":"a"}},)"
                                           R"("message":"The conditional request failed"})");
  ASSERT_TRUE(refusal && refusal->error.details);
  EXPECT_EQ(refusal->error.details->item, (item::Item{{"pk", "a"}}));
}

TEST(Refusal, HasReasonsInEitherCase) {
  auto refusal = decode_refusal(
      400, R"({"__type":"x#TransactionCanceledException","Message":"cancelled","CancellationReasons":[{"Code":"None"},)"
           R"({"Code":"ConditionalCheckFailed","Message":"failed","Item":{"pk":{"S":"a"}}}]})");
  ASSERT_TRUE(refusal && refusal->error.details);
  EXPECT_EQ(refusal->error.message, "cancelled");
  ASSERT_EQ(refusal->error.details->reasons.size(), 2U);
  EXPECT_EQ(refusal->error.details->reasons[0].code, "None");
  EXPECT_EQ(refusal->error.details->reasons[1].message, "failed");
  EXPECT_EQ(refusal->error.details->reasons[1].item, (item::Item{{"pk", "a"}}));
  for (const char* name : {"ThrottlingReasons", "throttlingReasons"}) {
    refusal = decode_refusal(400, std::string(R"({"__type":"x#ThrottlingException","message":"m",")") + name +
                                      R"(":[{"reason":"TableReadAccountLimitExceeded","resource":"arn"}]})");
    ASSERT_TRUE(refusal && refusal->error.details) << name;
    EXPECT_EQ(refusal->error.details->throttling_reasons.at(0),
              (store::ThrottlingReason{"TableReadAccountLimitExceeded", "arn"}));
  }
}

TEST(Refusal, OfAnotherKindKeepsItsName) {
  const auto refusal = decode_refusal(400, R"({"__type":"com.amazon.coral.service#ExpiredTokenException",)"
                                           R"("message":"The security token included in the request is expired"})");
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->type, "ExpiredTokenException");
  EXPECT_EQ(refusal->error.type, ErrorType::access_denied);
  EXPECT_EQ(refusal->error.message, "ExpiredTokenException: The security token included in the request is expired");
  EXPECT_EQ(decode_refusal(400, R"({"__type":"x#SerializationException"})")->error.type, ErrorType::validation);
  EXPECT_EQ(decode_refusal(500, R"({"__type":"x#Whatever"})")->error.type, ErrorType::internal_server_error);
}

TEST(Refusal, TellsTheRuleThatServicesKnow) {
  EXPECT_EQ(decode_refusal(400, R"({"__type":"x#ValidationException","message":"Cannot read from backfilling global )"
                                R"(secondary index: i"})")
                ->error.rule,
            base::Rule::filled_index);
}

TEST(Refusal, IsNotWhatAProxySays) {
  for (const char* body : {"", "<html><body>502 Bad Gateway</body></html>", "{", "[]", "{}",
                           R"({"message":"Forbidden"})", R"({"__type":"x#ValidationException","message":"cut)"})
    EXPECT_FALSE(decode_refusal(502, body)) << body;
}

TEST(Checksum, IsThatOfTheBody) {
  EXPECT_TRUE(has_right_checksum("2745614147", "{}"));
  EXPECT_TRUE(has_right_checksum("0", ""));
  EXPECT_TRUE(has_right_checksum("", "anything")) << "there is none";
  for (const char* wrong : {"2745614148", "a", "2745614147 ", "-1", "99999999999"})
    EXPECT_FALSE(has_right_checksum(wrong, "{}")) << wrong;
}

}  // namespace
}  // namespace postino::remote
