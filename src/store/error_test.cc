#include "store/error.h"

#include <gtest/gtest.h>

namespace postino::store {
namespace {

TEST(Error, HasTheNameThatDynamoDbGivesIt) {
  EXPECT_EQ(error_name(ErrorType::validation), "ValidationException");
  EXPECT_EQ(error_name(ErrorType::conditional_check_failed), "ConditionalCheckFailedException");
  EXPECT_EQ(error_name(ErrorType::transaction_canceled), "TransactionCanceledException");
  EXPECT_EQ(error_name(ErrorType::request_limit_exceeded), "RequestLimitExceeded");
  EXPECT_EQ(error_name(ErrorType::access_denied), "AccessDeniedException");
  EXPECT_EQ(error_name(ErrorType::internal_server_error), "InternalServerError");
}

TEST(Error, BrokenRulesAreTheCallersFaultAndTheRestIsOurs) {
  EXPECT_EQ(Error(base::Error{base::ErrorCode::invalid, "rule"}).type, ErrorType::validation);
  EXPECT_EQ(Error(base::Error{base::ErrorCode::malformed, "shape"}).type, ErrorType::validation);
  EXPECT_EQ(Error(base::Error{base::ErrorCode::io, "disk"}).type, ErrorType::internal_server_error);
  EXPECT_EQ(Error(base::Error{base::ErrorCode::corrupt, "bytes"}).message, "bytes");
}

}  // namespace
}  // namespace postino::store
