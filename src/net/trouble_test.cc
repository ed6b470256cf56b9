#include "net/trouble.h"

#include <gtest/gtest.h>

namespace postino::net {
namespace {

using std::chrono::seconds;

TEST(LastingTrouble, IsToldWhenItBeginsAndWhenItIsOver) {
  const LastingTrouble::Instant begin{};
  LastingTrouble trouble;
  EXPECT_FALSE(trouble.works()) << "there was none";
  EXPECT_FALSE(trouble.cause());
  EXPECT_TRUE(trouble.fails("the disk is full", begin));
  for (int i = 1; i < 10; ++i) EXPECT_FALSE(trouble.fails("the disk is broken", begin + seconds(100 * i)));
  EXPECT_TRUE(trouble.is_there());
  EXPECT_EQ(trouble.cause(), "the disk is broken") << "of the last attempt";
  EXPECT_TRUE(trouble.works());
  EXPECT_FALSE(trouble.works());
  EXPECT_FALSE(trouble.is_there());
  EXPECT_FALSE(trouble.cause());
}

TEST(LastingTrouble, ThatComesAgainAtOnceIsToldOnceAMinute) {
  const LastingTrouble::Instant begin{};
  LastingTrouble trouble;
  EXPECT_TRUE(trouble.fails("closed", begin));
  EXPECT_TRUE(trouble.works());
  for (int i = 1; i < 60; ++i) {
    EXPECT_FALSE(trouble.fails("closed", begin + seconds(i)));
    EXPECT_FALSE(trouble.works()) << "the end of what was not told";
  }
  EXPECT_FALSE(trouble.fails("closed", begin + seconds(59)));
  EXPECT_TRUE(trouble.fails("closed", begin + seconds(60))) << "one that lasts is told when its time has come";
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
}  // namespace postino::net
