#include "objects/call_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <thread>

namespace postino::objects {
namespace {

using testing::HasSubstr;

class CallGateTest : public testing::Test {
 protected:
  base::ManualClock clock_{base::TimePoint(std::chrono::hours(1))};
};

TEST_F(CallGateTest, FewCallAtATime) {
  CallGate gate({.places = 2, .wait = base::Milliseconds(1)}, clock_);
  std::optional<CallGate::Pass> first(gate.enter().value());
  const CallGate::Pass second = gate.enter().value();
  const auto third = gate.enter();
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, base::ErrorCode::exhausted);
  EXPECT_THAT(third.error().message, HasSubstr("2 calls"));
  first.reset();
  EXPECT_TRUE(gate.enter());
}

TEST_F(CallGateTest, WhoWaitsForAPlaceGetsTheNextOne) {
  CallGate gate({.places = 1, .wait = std::chrono::hours(1)}, clock_);
  std::optional<CallGate::Pass> first(gate.enter().value());
  bool entered = false;
  std::thread other([&] { entered = gate.enter().has_value(); });
  first.reset();
  other.join();
  EXPECT_TRUE(entered);
}

TEST_F(CallGateTest, AnOutageIsKnownToAllAndOneCallLooksWhetherItIsOver) {
  CallGate gate({.places = 1, .wait = std::chrono::hours(1), .rest = base::Milliseconds(5'000)}, clock_);
  {
    CallGate::Pass pass = gate.enter().value();
    std::string told;
    std::thread waiting([&] {
      const auto entered = gate.enter();
      told = entered ? "entered" : entered.error().message;
    });
    pass.fails("it hangs");
    waiting.join();
    EXPECT_THAT(told, HasSubstr("it hangs")) << "nobody waits for a place any more";
  }
  EXPECT_TRUE(gate.is_away());
  EXPECT_FALSE(gate.enter()) << "it rests";
  clock_.advance(base::Milliseconds(5'000));
  {
    CallGate::Pass probe = gate.enter().value();
    EXPECT_TRUE(probe.is_probe());
    EXPECT_FALSE(gate.enter()) << "one is enough";
    probe.fails("it hangs still");
  }
  EXPECT_FALSE(gate.enter());
  clock_.advance(base::Milliseconds(5'000));
  gate.enter().value().works();
  EXPECT_FALSE(gate.is_away());
  EXPECT_FALSE(gate.enter()->is_probe());
}

}  // namespace
}  // namespace postino::objects
