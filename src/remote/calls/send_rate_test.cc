#include "remote/calls/send_rate.h"

#include <gtest/gtest.h>

namespace postino::remote {
namespace {

using base::Milliseconds;

// Sends at a steady rate from `from` on for a while, and returns the time after it.
Milliseconds send_steadily(SendRate& rate, Milliseconds from, int calls, Milliseconds apart) {
  for (int i = 0; i < calls; ++i) {
    from += apart;
    rate.take(from);
    rate.succeeds(from);
  }
  return from;
}

TEST(SendRate, HoldsNothingUpBeforeSomethingIsThrottled) {
  SendRate rate;
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(rate.take(Milliseconds(0)), Milliseconds(0));
  EXPECT_EQ(rate.limit(), std::nullopt);
}

TEST(SendRate, FallsToAPartOfWhatWasSent) {
  SendRate rate;
  const Milliseconds now = send_steadily(rate, Milliseconds(0), 200, Milliseconds(10));  // 100 a second
  rate.is_throttled(now);
  ASSERT_TRUE(rate.limit());
  EXPECT_NEAR(*rate.limit(), 70, 3);
}

TEST(SendRate, SpreadsWhatComesAtOnce) {
  SendRate rate;
  const Milliseconds now = send_steadily(rate, Milliseconds(0), 200, Milliseconds(10));
  rate.is_throttled(now);
  const double limit = *rate.limit();
  Milliseconds last{0};
  for (int i = 1; i <= 50; ++i) {
    last = rate.take(now);
    EXPECT_NEAR(static_cast<double>(last.count()), i * 1'000 / limit, 2) << i;
  }
}

TEST(SendRate, FallsFurtherEachTime) {
  SendRate rate;
  Milliseconds now = send_steadily(rate, Milliseconds(0), 200, Milliseconds(10));
  rate.is_throttled(now);
  const double first = *rate.limit();
  rate.is_throttled(now + Milliseconds(10));
  EXPECT_LT(*rate.limit(), first);
  for (int i = 0; i < 100; ++i) rate.is_throttled(now += Milliseconds(100));
  EXPECT_DOUBLE_EQ(*rate.limit(), 0.5) << "some are always sent, to see whether it is better";
}

TEST(SendRate, GrowsBackWithSuccess) {
  SendRate rate;
  Milliseconds now = send_steadily(rate, Milliseconds(0), 200, Milliseconds(10));
  rate.is_throttled(now);
  const double low = *rate.limit();
  now = send_steadily(rate, now, 1'000, Milliseconds(10));
  EXPECT_GT(*rate.limit(), low);
  EXPECT_LE(*rate.limit(), 201) << "never beyond twice of what is sent";
}

TEST(SendRate, ForgetsAfterAWhile) {
  SendRate rate;
  const Milliseconds now = send_steadily(rate, Milliseconds(0), 200, Milliseconds(10));
  rate.is_throttled(now);
  for (int i = 0; i < 500; ++i) rate.take(now);
  EXPECT_GT(rate.take(now), Milliseconds(0));
  EXPECT_EQ(rate.take(now + SendRate::forgotten_after + Milliseconds(1)), Milliseconds(0));
  EXPECT_EQ(rate.limit(), std::nullopt);
}

TEST(SendRate, TakesATurnBack) {
  SendRate rate;
  const Milliseconds now = send_steadily(rate, Milliseconds(0), 200, Milliseconds(10));
  rate.is_throttled(now);
  rate.take(now);
  const Milliseconds second = rate.take(now);
  rate.give_back();
  EXPECT_EQ(rate.take(now), second);
}

TEST(SendRates, HoldUpOnlyTheTableThatIsThrottled) {
  SendRates rates;
  rates.is_throttled("busy", Milliseconds(0));
  for (int i = 0; i < 10; ++i) rates.take("busy", Milliseconds(0));
  EXPECT_GT(rates.take("busy", Milliseconds(0)), Milliseconds(0));
  EXPECT_EQ(rates.take("idle", Milliseconds(0)), Milliseconds(0));
}

}  // namespace
}  // namespace postino::remote
