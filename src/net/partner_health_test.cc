#include "net/partner_health.h"

#include <gtest/gtest.h>

#include "net/logged_lines_testing.h"

namespace postino::net {
namespace {

using std::chrono::seconds;

TEST(PartnerHealth, TellsTheBeginningAndTheEndOfAnOutage) {
  const LoggedLines lines;
  const PartnerHealth::Instant begin{};
  PartnerHealth relay("outbox", "the mail server", "mail.example:25");
  relay.works();
  EXPECT_EQ(lines.text(), "");
  EXPECT_TRUE(relay.is_up());
  for (int i = 0; i < 10; ++i) relay.fails("connection refused", begin + seconds(100 * i));
  EXPECT_FALSE(relay.is_up());
  EXPECT_EQ(relay.problem(),
            "the mail server mail.example:25 could not be used at the last attempt: connection refused");
  relay.works();
  relay.works();
  EXPECT_FALSE(relay.problem());
  EXPECT_EQ(lines.count("\n"), 2);
  EXPECT_EQ(lines.count("the mail server cannot be used name=mail.example:25 error=\"connection refused\"\n"), 1);
  EXPECT_EQ(lines.count("the mail server can be used again name=mail.example:25\n"), 1);
}

TEST(PartnerHealth, OutagesThatFollowEachOtherAreToldOnceAMinute) {
  const LoggedLines lines;
  const PartnerHealth::Instant begin{};
  PartnerHealth relay("outbox", "the mail server", "mail.example:25");
  for (int i = 0; i < 59; ++i) {
    relay.fails("closed", begin + seconds(i));
    relay.works();
  }
  EXPECT_EQ(lines.count("\n"), 2);
  // One that lasts is told when its time has come.
  relay.fails("closed", begin + seconds(59));
  EXPECT_EQ(lines.count("\n"), 2);
  relay.fails("closed", begin + seconds(60));
  EXPECT_EQ(lines.count("\n"), 3);
}

}  // namespace
}  // namespace postino::net
