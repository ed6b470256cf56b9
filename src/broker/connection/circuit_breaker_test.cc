#include "broker/connection/silence.h"

#include <gmock/gmock.h>

namespace postino::broker {
namespace {

using Outcome = Silence::Outcome;
using std::chrono::milliseconds;

class SilenceTest : public ::testing::Test {
 protected:
  void wait_in_vain() { silence_.end(silence_.begin("a:1").value(), Outcome::in_vain); }

  Silence::Clock::time_point now_;
  Silence silence_{milliseconds(1'000), [this] { return now_; }};
};

TEST_F(SilenceTest, ManyMayAskUntilOneHasWaitedInVain) {
  const auto first = silence_.begin("a:1");
  const auto second = silence_.begin("a:1");
  ASSERT_TRUE(first && second);
  silence_.end(*first, Outcome::in_vain);
  EXPECT_FALSE(silence_.begin("a:1"));
  EXPECT_TRUE(silence_.is_silent("a:1"));
  EXPECT_TRUE(silence_.begin("b:1")) << "another endpoint is not concerned";
  silence_.end(*second, Outcome::answered);
  EXPECT_TRUE(silence_.begin("a:1")) << "it has spoken";
  EXPECT_FALSE(silence_.is_silent("a:1"));
}

TEST_F(SilenceTest, ASilentEndpointIsAskedByOneCallerAfterAPause) {
  wait_in_vain();
  now_ += milliseconds(999);
  EXPECT_FALSE(silence_.begin("a:1"));
  now_ += milliseconds(1);
  const auto knock = silence_.begin("a:1");
  ASSERT_TRUE(knock);
  EXPECT_TRUE(knock->knocks);
  EXPECT_FALSE(silence_.begin("a:1")) << "one is at it";
  now_ += std::chrono::hours(1);
  EXPECT_FALSE(silence_.begin("a:1")) << "however long that takes";
  silence_.end(*knock, Outcome::in_vain);
  EXPECT_FALSE(silence_.begin("a:1")) << "there is a pause again";
  now_ += milliseconds(1'000);
  silence_.end(silence_.begin("a:1").value(), Outcome::untried);
  EXPECT_TRUE(silence_.is_silent("a:1")) << "nothing has been heard of it";
  silence_.end(silence_.begin("a:1").value(), Outcome::failed);
  EXPECT_TRUE(silence_.begin("a:1")) << "one that refuses does so at once: nobody waits for it";
}

TEST_F(SilenceTest, ALateCallerDoesNotEndTheTurnOfTheOneWhoAsks) {
  const auto late = silence_.begin("a:1");
  wait_in_vain();
  now_ += milliseconds(1'000);
  ASSERT_TRUE(silence_.begin("a:1"));
  silence_.end(*late, Outcome::in_vain);
  now_ += milliseconds(1'000);
  EXPECT_FALSE(silence_.begin("a:1"));
}

TEST_F(SilenceTest, ABrokerStandsAsWellAsItsBestEndpoint) {
  EXPECT_EQ(silence_.standing({"a:1", "b:1"}), Standing::unproven);
  wait_in_vain();
  EXPECT_EQ(silence_.standing({"a:1"}), Standing::silent);
  EXPECT_EQ(silence_.standing({"a:1", "b:1"}), Standing::unproven);
  silence_.end(silence_.begin("b:1").value(), Outcome::answered);
  EXPECT_EQ(silence_.standing({"a:1", "b:1"}), Standing::answers);
  now_ += milliseconds(1'000);
  EXPECT_EQ(silence_.standing({"a:1"}), Standing::unproven) << "somebody may ask now";
  silence_.end(silence_.begin("b:1").value(), Outcome::failed);
  EXPECT_EQ(silence_.standing({"b:1"}), Standing::unproven);
}

TEST_F(SilenceTest, EndpointsThatCallersInventTakeALimitedAmountOfMemory) {
  wait_in_vain();
  for (int i = 0; i < 3'000; ++i) silence_.end(silence_.begin("x:" + std::to_string(i)).value(), Outcome::failed);
  EXPECT_TRUE(silence_.is_silent("a:1")) << "those that nobody waits for are forgotten first";
  for (int i = 0; i < 3'000; ++i) silence_.end(silence_.begin("y:" + std::to_string(i)).value(), Outcome::in_vain);
  int known = 0;
  for (int i = 0; i < 3'000; ++i) known += silence_.is_silent("y:" + std::to_string(i)) ? 1 : 0;
  EXPECT_LE(known, 1'000);
}

}  // namespace
}  // namespace postino::broker
