#include "outbox/work/destination_limits.h"

#include <gtest/gtest.h>

namespace postino::outbox {
namespace {

using base::Milliseconds;
using std::chrono::seconds;

constexpr base::TimePoint first_turn{base::Milliseconds(1'794'735'000'250)};  // 2026-11-15T09:30:00.250Z

TEST(DestinationLimits, WithoutRulesEverythingGoes) {
  DestinationLimits limits({});
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(limits.admit("a.example", "e", first_turn), std::nullopt);
}

TEST(DestinationLimits, SoManyAtATimeForEachDestination) {
  DestinationLimits limits({.concurrency = 2});
  EXPECT_EQ(limits.admit("a.example", "1", first_turn), std::nullopt);
  EXPECT_EQ(limits.admit("a.example", "2", first_turn), std::nullopt);
  const auto later = limits.admit("a.example", "3", first_turn);
  ASSERT_TRUE(later);
  EXPECT_GT(*later, first_turn);
  EXPECT_EQ(limits.admit("b.example", "4", first_turn), std::nullopt) << "others do not wait for it";
  limits.done("a.example");
  EXPECT_EQ(limits.admit("a.example", "3", first_turn), std::nullopt);
  limits.done("nobody.example");
}

TEST(DestinationLimits, WhatWasNotSentAfterAllMayComeAgainAtOnce) {
  DestinationLimits limits({.concurrency = 1, .rate = 2});
  EXPECT_EQ(limits.admit("a.example", "1", first_turn), std::nullopt);
  limits.take_back("a.example", "1", first_turn);
  EXPECT_EQ(limits.admit("a.example", "1", first_turn), std::nullopt);
  limits.done("a.example");
  EXPECT_EQ(limits.admit("a.example", "1", first_turn), first_turn + Milliseconds(500)) << "once";
}

TEST(DestinationLimits, SoManyASecondAndEachGetsATurn) {
  DestinationLimits limits({.rate = 2});
  EXPECT_EQ(limits.admit("a.example", "1", first_turn), std::nullopt);
  EXPECT_EQ(limits.admit("a.example", "2", first_turn), first_turn + Milliseconds(500));
  EXPECT_EQ(limits.admit("a.example", "3", first_turn), first_turn + Milliseconds(1'000));
  EXPECT_EQ(limits.admit("a.example", "2", first_turn + Milliseconds(100)), first_turn + Milliseconds(500))
      << "its turn is kept";
  EXPECT_EQ(limits.admit("a.example", "4", first_turn + Milliseconds(500)), first_turn + Milliseconds(1'500));
  EXPECT_EQ(limits.admit("a.example", "2", first_turn + Milliseconds(500)), std::nullopt);
  EXPECT_EQ(limits.admit("a.example", "3", first_turn + Milliseconds(1'200)), std::nullopt);
  EXPECT_EQ(limits.admit("a.example", "5", first_turn + seconds(10)), std::nullopt)
      << "what is not used is not saved up";
  EXPECT_EQ(limits.admit("a.example", "6", first_turn + seconds(10)), first_turn + Milliseconds(10'500));
}

TEST(DestinationLimits, ATurnNobodyComesForEnds) {
  DestinationLimits limits({.rate = 1});
  EXPECT_EQ(limits.admit("a.example", "1", first_turn), std::nullopt);
  EXPECT_EQ(limits.admit("a.example", "2", first_turn), first_turn + seconds(1));
  EXPECT_EQ(limits.admit("a.example", "3", first_turn + seconds(100)), std::nullopt);
  EXPECT_EQ(limits.admit("a.example", "2", first_turn + seconds(100)), first_turn + seconds(101)) << "a new one";
}

TEST(DestinationLimits, HighRatesAreKeptToo) {
  for (const int rate : {300, 700, 3'000}) {
    DestinationLimits limits({.rate = static_cast<double>(rate)});
    int admitted = 0;
    for (int i = 0; i < 20'000; ++i)
      if (const auto turn = limits.admit("a.example", std::to_string(i), first_turn);
          !turn || *turn < first_turn + seconds(1))
        ++admitted;
    EXPECT_NEAR(admitted, rate, rate / 100 + 3);
  }
}

}  // namespace
}  // namespace postino::outbox
