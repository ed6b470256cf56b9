// What a store refuses, and in which words.
#include <gtest/gtest.h>

#include "store/constraints.h"
#include "store/error.h"

namespace postino::store {
namespace {

TEST(Constraints, PassWhenNothingWasRefused) { EXPECT_TRUE(Constraints().outcome()); }

TEST(Constraints, OneIsSingular) {
  Constraints constraints;
  constraints.check_name("tableName", "ab");
  EXPECT_EQ(constraints.outcome().error().message,
            "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: Member must have "
            "length greater than or equal to 3");
}

TEST(Constraints, SeveralAreJoinedPatternBeforeLength) {
  Constraints constraints;
  constraints.check_name("exclusiveStartTableName", "a;");
  constraints.check_at_most("limit", 500, 100);
  EXPECT_EQ(
      constraints.outcome().error().message,
      "3 validation errors detected: Value 'a;' at 'exclusiveStartTableName' failed to satisfy constraint: Member "
      "must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; Value 'a;' at 'exclusiveStartTableName' failed "
      "to satisfy constraint: Member must have length greater than or equal to 3; Value '500' at 'limit' failed "
      "to satisfy constraint: Member must have value less than or equal to 100");
}

TEST(Constraints, AMissingMemberIsAnUnquotedNull) {
  Constraints constraints;
  constraints.check_not_null("key", true);
  constraints.check_not_null("transactItems.2.member.put.item", false);
  EXPECT_EQ(constraints.outcome().error().message,
            "1 validation error detected: Value null at 'transactItems.2.member.put.item' failed to satisfy "
            "constraint: Member must not be null");
}

TEST(Constraints, CountsShowTheValueOnlyWhenItIsGiven) {
  Constraints constraints;
  constraints.check_count("transactItems", 1, 1, 100);
  constraints.check_count("transactItems", 101, 1, 100);
  constraints.check_count("keySchema", 0, 1, Constraints::any_number, "[]");
  constraints.check_at_least("Limit", 0, 1, false);
  constraints.refuse_with("Must specify something");
  EXPECT_EQ(constraints.outcome().error().message,
            "4 validation errors detected: Value at 'transactItems' failed to satisfy constraint: Member must have "
            "length less than or equal to 100; Value '[]' at 'keySchema' failed to satisfy constraint: Member must "
            "have length greater than or equal to 1; Value at 'Limit' failed to satisfy constraint: Member must have "
            "value greater than or equal to 1; Must specify something");
}

TEST(Constraints, EnumerationsNameTheirWholeSet) {
  constexpr std::string_view set = "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]";
  for (const std::string_view allowed : {"ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"}) {
    Constraints constraints;
    constraints.check_one_of("returnValues", allowed, set);
    EXPECT_TRUE(constraints.outcome()) << allowed;
  }
  for (const std::string_view wrong : {"", "ALL", "none", "NONE, UPDATED_NEW", "[ALL_NEW"}) {
    Constraints constraints;
    constraints.check_one_of("returnValues", wrong, set);
    EXPECT_EQ(constraints.outcome().error().message,
              "1 validation error detected: Value '" + std::string(wrong) +
                  "' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value set: [ALL_NEW, "
                  "UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]");
  }
}

TEST(Constraints, AtMostTenAreReported) {
  Constraints constraints;
  for (int i = 0; i < 12; ++i) constraints.check_at_least("member" + std::to_string(i), 0, 1);
  const std::string message = constraints.outcome().error().message;
  EXPECT_TRUE(message.starts_with("10 validation errors detected: "));
  EXPECT_NE(message.find("'member9'"), std::string::npos);
  EXPECT_EQ(message.find("'member10'"), std::string::npos);
}

TEST(Constraints, NamesHaveThreeToTwoHundredFiftyFiveCharacters) {
  EXPECT_TRUE(check_table_name("a.b"));
  EXPECT_TRUE(check_table_name("A_z-09."));
  EXPECT_TRUE(check_table_name(std::string(255, 'x')));
  const std::string long_name(256, 'x');
  EXPECT_EQ(check_table_name(long_name).error().message,
            "1 validation error detected: Value '" + long_name +
                "' at 'tableName' failed to satisfy constraint: Member must have length less than or equal to 255");
  EXPECT_FALSE(check_table_name(""));
  EXPECT_FALSE(check_table_name("caf\xC3\xA9"));
}

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
