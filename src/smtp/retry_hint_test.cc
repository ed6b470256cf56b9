#include "smtp/retry_hint.h"

#include <gtest/gtest.h>

namespace postino::smtp {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

Reply reply_with(int code, const std::string& text, const std::string& enhanced = "") {
  return {code, enhanced, std::to_string(code) + " " + text};
}

TEST(RetryHint, IsReadFromTheWordsOfTheServer) {
  EXPECT_EQ(retry_hint(reply_with(421, "too many connections, try again in 60 seconds")), seconds(60));
  EXPECT_EQ(retry_hint(reply_with(450, "4.7.1 Please RETRY after 5 Minutes.")), minutes(5));
  EXPECT_EQ(retry_hint(reply_with(450, "4.2.0 <a@b>: Recipient address rejected: Greylisted for 300 seconds")),
            seconds(300));
  EXPECT_EQ(retry_hint(reply_with(451, "wait 90s")), seconds(90));
  EXPECT_EQ(retry_hint(reply_with(451, "come again later, in 1 hour and 30 min")), minutes(90));
  EXPECT_EQ(retry_hint(reply_with(451, "try again in 4 minutes, 30 seconds (ref 17 h)")), seconds(270));
}

TEST(RetryHint, IsNoneWhereNoTimeIsNamed) {
  EXPECT_EQ(retry_hint(reply_with(421, "try again later")), std::nullopt);
  EXPECT_EQ(retry_hint(reply_with(450, "try again, 4.7.1 10.0.0.1 sees 3 connections")), std::nullopt);
  EXPECT_EQ(retry_hint(reply_with(450, "no more than 100 messages in 60 seconds")), std::nullopt) << "that is a limit";
  EXPECT_EQ(retry_hint(reply_with(450, "try again, ticket ab-60 s")), std::nullopt);
  EXPECT_EQ(retry_hint(reply_with(450, "try again in 0 seconds")), std::nullopt);
  EXPECT_EQ(retry_hint(Reply()), std::nullopt);
}

TEST(RetryHint, IsForThoseWhoMayComeAgain) {
  EXPECT_EQ(retry_hint(reply_with(550, "blocked, try again in 60 seconds")), std::nullopt);
  EXPECT_EQ(retry_hint(reply_with(250, "queued, try again in 60 seconds")), std::nullopt);
  EXPECT_EQ(retry_hint({0, "", "try again in 60 seconds"}), std::nullopt) << "nobody said it";
}

TEST(RetryHint, IsADayAtMost) {
  EXPECT_EQ(retry_hint(reply_with(450, "try again in 100000000000000000000000 hours")), hours(24));
  EXPECT_EQ(retry_hint(reply_with(450, "try again in 23 hours 90 minutes")), hours(24));
}

TEST(RetryHint, OfAMailboxIsNotAboutItsDomain) {
  EXPECT_TRUE(is_about_domain(reply_with(450, "try again in 60 seconds", "4.7.1")));
  EXPECT_TRUE(is_about_domain(reply_with(421, "try again in 60 seconds")));
  EXPECT_FALSE(is_about_domain(reply_with(450, "mailbox busy, try again in 60 seconds", "4.2.1")));
  EXPECT_FALSE(is_about_domain(reply_with(450, "Greylisted, try again in 60 seconds", "4.7.1")));
}

}  // namespace
}  // namespace postino::smtp
