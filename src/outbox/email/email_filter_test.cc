#include "outbox/email/email_filter.h"

#include <gtest/gtest.h>

namespace postino::outbox {
namespace {

Email some_email() {
  Email email;
  email.sender = "shop@example.org";
  email.subject = "Your Order 18, Grüße";
  email.tags = {"orders", "blue"};
  email.recipients = {{"Ada@Example.org", {}, ""}, {"bob@sub.example.net", {}, ""}};
  return email;
}

TEST(EmailFilter, AsksForNothingWhenItIsEmpty) {
  EXPECT_TRUE(EmailFilter{}.empty());
  EXPECT_TRUE(matches(some_email(), {}));
  EXPECT_TRUE(matches(Email(), {}));
}

TEST(EmailFilter, FindsByOneOfTheTags) {
  EXPECT_TRUE(matches(some_email(), {.tag = "orders"}));
  EXPECT_TRUE(matches(some_email(), {.tag = "blue"}));
  EXPECT_FALSE(matches(some_email(), {.tag = "order"}));
  EXPECT_FALSE(matches(some_email(), {.tag = "Blue"})) << "tags are the caller's own words";
  EXPECT_FALSE(matches(Email(), {.tag = "blue"}));
}

TEST(EmailFilter, FindsByAddressOrDomain) {
  EXPECT_TRUE(matches(some_email(), {.recipient = "ada@example.org"}));
  EXPECT_TRUE(matches(some_email(), {.recipient = "BOB@sub.example.net"}));
  EXPECT_TRUE(matches(some_email(), {.recipient = "@sub.Example.net"}));
  EXPECT_FALSE(matches(some_email(), {.recipient = "@example.net"})) << "another domain";
  EXPECT_FALSE(matches(some_email(), {.recipient = "da@example.org"}));
  EXPECT_FALSE(matches(some_email(), {.recipient = "shop@example.org"}));
  EXPECT_TRUE(matches(some_email(), {.sender = "Shop@example.org"}));
  EXPECT_TRUE(matches(some_email(), {.sender = "@example.org"}));
  EXPECT_FALSE(matches(some_email(), {.sender = "ada@example.org"}));
  EXPECT_FALSE(matches(Email(), {.sender = "@example.org"}));
}

TEST(EmailFilter, FindsByAPartOfTheSubject) {
  EXPECT_TRUE(matches(some_email(), {.subject = "order 18"}));
  EXPECT_TRUE(matches(some_email(), {.subject = "Grüße"}));
  EXPECT_TRUE(matches(some_email(), {.subject = "order+18"})) << "as many clients write a space";
  EXPECT_FALSE(matches(some_email(), {.subject = "order 19"}));
  EXPECT_FALSE(matches(some_email(), {.subject = "order+19"}));
  EXPECT_FALSE(matches(Email(), {.subject = "order"}));
}

TEST(EmailFilter, AsksForAllAtOnce) {
  EXPECT_TRUE(matches(some_email(), {.tag = "blue", .recipient = "@example.org", .subject = "order"}));
  EXPECT_FALSE(matches(some_email(), {.tag = "red", .recipient = "@example.org", .subject = "order"}));
}

}  // namespace
}  // namespace postino::outbox
