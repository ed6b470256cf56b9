#include "broker/connection/circuit_breaker.h"

#include <gmock/gmock.h>

namespace postino::broker {
namespace {

using Outcome = CircuitBreaker::Outcome;
using std::chrono::milliseconds;

class CircuitBreakerTest : public ::testing::Test {
 protected:
  void wait_in_vain() { breaker_.end(breaker_.begin("a:1").value(), Outcome::in_vain); }

  CircuitBreaker::Clock::time_point now_;
  CircuitBreaker breaker_{milliseconds(1'000), [this] { return now_; }};
};

TEST_F(CircuitBreakerTest, ManyMayAskUntilOneHasWaitedInVain) {
  const auto first = breaker_.begin("a:1");
  const auto second = breaker_.begin("a:1");
  ASSERT_TRUE(first && second);
  breaker_.end(*first, Outcome::in_vain);
  EXPECT_FALSE(breaker_.begin("a:1"));
  EXPECT_TRUE(breaker_.is_silent("a:1"));
  EXPECT_TRUE(breaker_.begin("b:1")) << "another endpoint is not concerned";
  breaker_.end(*second, Outcome::answered);
  EXPECT_TRUE(breaker_.begin("a:1")) << "it has spoken";
  EXPECT_FALSE(breaker_.is_silent("a:1"));
}

TEST_F(CircuitBreakerTest, ASilentEndpointIsAskedByOneCallerAfterAPause) {
  wait_in_vain();
  now_ += milliseconds(999);
  EXPECT_FALSE(breaker_.begin("a:1"));
  now_ += milliseconds(1);
  const auto probe = breaker_.begin("a:1");
  ASSERT_TRUE(probe);
  EXPECT_TRUE(probe->is_probe);
  EXPECT_FALSE(breaker_.begin("a:1")) << "one is at it";
  now_ += std::chrono::hours(1);
  EXPECT_FALSE(breaker_.begin("a:1")) << "however long that takes";
  breaker_.end(*probe, Outcome::in_vain);
  EXPECT_FALSE(breaker_.begin("a:1")) << "there is a pause again";
  now_ += milliseconds(1'000);
  breaker_.end(breaker_.begin("a:1").value(), Outcome::untried);
  EXPECT_TRUE(breaker_.is_silent("a:1")) << "nothing has been heard of it";
  breaker_.end(breaker_.begin("a:1").value(), Outcome::failed);
  EXPECT_TRUE(breaker_.begin("a:1")) << "one that refuses does so at once: nobody waits for it";
}

TEST_F(CircuitBreakerTest, ALateCallerDoesNotEndTheTurnOfTheOneWhoAsks) {
  const auto late = breaker_.begin("a:1");
  wait_in_vain();
  now_ += milliseconds(1'000);
  ASSERT_TRUE(breaker_.begin("a:1"));
  breaker_.end(*late, Outcome::in_vain);
  now_ += milliseconds(1'000);
  EXPECT_FALSE(breaker_.begin("a:1"));
}

TEST_F(CircuitBreakerTest, ABrokerStandsAsWellAsItsBestEndpoint) {
  EXPECT_EQ(breaker_.standing({"a:1", "b:1"}), Standing::unproven);
  wait_in_vain();
  EXPECT_EQ(breaker_.standing({"a:1"}), Standing::silent);
  EXPECT_EQ(breaker_.standing({"a:1", "b:1"}), Standing::unproven);
  breaker_.end(breaker_.begin("b:1").value(), Outcome::answered);
  EXPECT_EQ(breaker_.standing({"a:1", "b:1"}), Standing::answers);
  now_ += milliseconds(1'000);
  EXPECT_EQ(breaker_.standing({"a:1"}), Standing::unproven) << "somebody may ask now";
  breaker_.end(breaker_.begin("b:1").value(), Outcome::failed);
  EXPECT_EQ(breaker_.standing({"b:1"}), Standing::unproven);
}

TEST_F(CircuitBreakerTest, EndpointsThatCallersInventTakeALimitedAmountOfMemory) {
  wait_in_vain();
  for (int i = 0; i < 3'000; ++i) breaker_.end(breaker_.begin("x:" + std::to_string(i)).value(), Outcome::failed);
  EXPECT_TRUE(breaker_.is_silent("a:1")) << "those that nobody waits for are forgotten first";
  for (int i = 0; i < 3'000; ++i) breaker_.end(breaker_.begin("y:" + std::to_string(i)).value(), Outcome::in_vain);
  int known = 0;
  for (int i = 0; i < 3'000; ++i) known += breaker_.is_silent("y:" + std::to_string(i)) ? 1 : 0;
  EXPECT_LE(known, 1'000);
}

}  // namespace
}  // namespace postino::broker
