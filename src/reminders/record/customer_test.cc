#include "reminders/record/customer.h"

#include <gmock/gmock.h>

namespace postino::reminders {
namespace {

using ::testing::HasSubstr;

std::string rule_of(const base::Result<void>& checked) { return checked ? "" : checked.error().message; }

TEST(CustomerRules, AnIdFitsIntoKeysAndPaths) {
  for (const std::string id : {"a", "cust_001", "A.B-c@d+e", "0"}) EXPECT_TRUE(is_record_id(id)) << id;
  EXPECT_TRUE(is_record_id(std::string(128, 'x')));
  EXPECT_FALSE(is_record_id(std::string(129, 'x')));
  for (const std::string id : {"", " ", "a b", "a#b", "a/b", "é", "a\n", "a:b", "a,b", ".", "..", "a%"})
    EXPECT_FALSE(is_record_id(id)) << id;
  EXPECT_FALSE(is_record_id(std::string("a\0b", 3)));
}

TEST(CustomerRules, AnIdOfAnotherProgramFitsIntoThemToo) {
  for (const std::string id : {"cust_001", "customer 7", "auth0|7", "a#b", "Änne:1"})
    EXPECT_TRUE(may_be_customer(id)) << id;
  EXPECT_TRUE(may_be_customer(std::string(128, '|')));
  EXPECT_FALSE(may_be_customer(std::string(129, '|')));
  for (const std::string id : {"", "a/b", "a\n", ".", "..", "\xE4"}) EXPECT_FALSE(may_be_customer(id)) << id;
}

TEST(CustomerRules, ANameIsOneLine) {
  EXPECT_EQ(rule_of(check_customer_name("Ada")), "");
  EXPECT_EQ(rule_of(check_customer_name("<b>Ada</b> {{amount}} \"&\" 世界")), "") << "markup means nothing";
  EXPECT_EQ(rule_of(check_customer_name("")), "must not be empty");
  EXPECT_EQ(rule_of(check_customer_name(" \t")), "must not be empty");
  EXPECT_EQ(rule_of(check_customer_name("\u00a0")), "must not be empty");
  EXPECT_THAT(rule_of(check_customer_name("Ada\r\nBcc: all@example.org")), HasSubstr("line breaks"));
  EXPECT_THAT(rule_of(check_customer_name("Ada\x7F")), HasSubstr("control characters"));
  EXPECT_EQ(rule_of(check_customer_name("Ad\xE4")), "must be UTF-8");
  EXPECT_EQ(rule_of(check_customer_name(std::string(200, 'a'))), "");
  EXPECT_EQ(rule_of(check_customer_name(std::string(201, 'a'))), "must not be longer than 200 bytes");
}

TEST(CustomerRules, AnAddressStandsAlone) {
  EXPECT_EQ(rule_of(check_customer_email("ada@example.org")), "");
  for (const char* const email : {"", "ada", "Ada <ada@example.org>", "a@example.org, b@example.org",
                                  "ada@example.org\r\nBcc: b@example.org", " ada@example.org", "ada@"})
    EXPECT_NE(rule_of(check_customer_email(email)), "") << email;
}

TEST(CustomerRules, TellWhyRemindersStop) {
  Customer customer;
  EXPECT_EQ(why_stopped(customer), "");
  customer.hard_bounces = 1;
  EXPECT_THAT(why_stopped(customer), HasSubstr("bounce"));
  customer.complaints = 1;
  EXPECT_THAT(why_stopped(customer), HasSubstr("complained"));
  customer.opted_out = true;
  EXPECT_THAT(why_stopped(customer), HasSubstr("opted out"));
}

TEST(CustomerRules, ThreeLatePaymentsMakeALatePayer) {
  Customer customer;
  customer.late_payments = 2;
  EXPECT_FALSE(is_late_payer(customer));
  customer.late_payments = 3;
  EXPECT_TRUE(is_late_payer(customer));
}

}  // namespace
}  // namespace postino::reminders
