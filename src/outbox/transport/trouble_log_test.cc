#include "outbox/transport/trouble_log.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "base/log_file.h"
#include "base/temporary_directory.h"

namespace postino::outbox {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

TEST(TroubleLog, HasNoAddresses) {
  EXPECT_EQ(without_addresses("550 5.1.1 <ada@example.org>: user unknown (ada@example.org)"),
            "550 5.1.1 <(address)>: user unknown ((address))");
  EXPECT_EQ(without_addresses("550 <\"a b\"@example.org> is gone"), "550 <(address)> is gone");
  EXPECT_EQ(without_addresses("\"@example.org"), "(address)");
  EXPECT_EQ(without_addresses("to jürgen\uFF20müller.example"), "to (address)");
  EXPECT_EQ(without_addresses("to ada=40private.example"), "to (address)");
  EXPECT_EQ(without_addresses("421 4.3.2 not now"), "421 4.3.2 not now");
}

// The lines that were logged meanwhile.
class LoggedLines {
 public:
  LoggedLines() { EXPECT_TRUE(base::open_log(folder_.path() / "log")); }
  ~LoggedLines() { EXPECT_TRUE(base::open_log("")); }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(folder_.path() / "log").rdbuf();
    return text.str();
  }
  int count(const std::string& what) const {
    const std::string all = text();
    int found = 0;
    for (std::size_t at = all.find(what); at != std::string::npos; at = all.find(what, at + 1)) ++found;
    return found;
  }

 private:
  base::TemporaryDirectory folder_;
};

TEST(PartnerHealth, TellsTheBeginningAndTheEndOfAnOutage) {
  const LoggedLines lines;
  const PartnerHealth::Instant begin{};
  PartnerHealth relay("the mail server", "mail.example:25");
  relay.works();
  EXPECT_EQ(lines.text(), "");
  EXPECT_TRUE(relay.is_up());
  for (int i = 0; i < 10; ++i) relay.fails("refused by ada@example.org", begin + seconds(100 * i));
  EXPECT_FALSE(relay.is_up());
  EXPECT_EQ(relay.problem(),
            "the mail server mail.example:25 could not be used at the last attempt: refused by (address)");
  relay.works();
  relay.works();
  EXPECT_FALSE(relay.problem());
  EXPECT_EQ(lines.count("\n"), 2);
  EXPECT_EQ(lines.count("the mail server cannot be used name=mail.example:25 error=\"refused by (address)\"\n"), 1);
  EXPECT_EQ(lines.count("the mail server can be used again name=mail.example:25\n"), 1);
}

TEST(PartnerHealth, OutagesThatFollowEachOtherAreToldOnceAMinute) {
  const LoggedLines lines;
  const PartnerHealth::Instant begin{};
  PartnerHealth relay("the mail server", "mail.example:25");
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

TEST(RepeatedTrouble, IsToldOnceAMinuteForEachKind) {
  base::ManualClock clock{base::TimePoint()};
  RepeatedTrouble trouble(clock);
  EXPECT_EQ(trouble.admit("550"), 0);
  EXPECT_EQ(trouble.admit("550"), std::nullopt);
  EXPECT_EQ(trouble.admit("550"), std::nullopt);
  EXPECT_EQ(trouble.admit("554"), 0);
  clock.advance(RepeatedTrouble::pause);
  EXPECT_EQ(trouble.admit("550"), 2);
  EXPECT_EQ(trouble.admit("550"), std::nullopt);
}

TEST(RepeatedTrouble, ManyKindsAreOne) {
  base::ManualClock clock{base::TimePoint()};
  RepeatedTrouble trouble(clock);
  int told = 0;
  for (int i = 0; i < 1'000; ++i) told += trouble.admit(std::to_string(i)) ? 1 : 0;
  EXPECT_EQ(told, 101);
}

}  // namespace
}  // namespace postino::outbox
