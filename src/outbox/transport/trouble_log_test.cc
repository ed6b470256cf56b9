#include "outbox/transport/trouble_log.h"

#include <gmock/gmock.h>

namespace postino::outbox {
namespace {

TEST(TroubleLog, HasNoAddresses) {
  EXPECT_EQ(without_addresses("550 5.1.1 <ada@example.org>: user unknown (ada@example.org)"),
            "550 5.1.1 <(address)>: user unknown ((address))");
  EXPECT_EQ(without_addresses("550 <\"a b\"@example.org> is gone"), "550 <(address)> is gone");
  EXPECT_EQ(without_addresses("\"@example.org"), "(address)");
  EXPECT_EQ(without_addresses("to jürgen\uFF20müller.example"), "to (address)");
  EXPECT_EQ(without_addresses("to ada=40private.example"), "to (address)");
  EXPECT_EQ(without_addresses("421 4.3.2 not now"), "421 4.3.2 not now");
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
