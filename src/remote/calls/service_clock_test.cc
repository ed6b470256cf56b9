#include "remote/calls/service_clock.h"

#include <gtest/gtest.h>

namespace postino::remote {
namespace {

constexpr base::TimePoint noon = base::TimePoint(std::chrono::seconds(1'767'355'200));  // Fri, 02 Jan 2026 12:00:00 GMT

TEST(ServiceClockTest, IsOursAtFirst) {
  const base::ManualClock ours(noon);
  ServiceClock clock(ours);
  EXPECT_EQ(clock.now(), noon);
  EXPECT_FALSE(clock.learn("Fri, 02 Jan 2026 12:00:03 GMT")) << "an answer takes a while";
  EXPECT_FALSE(clock.learn("yesterday"));
  EXPECT_FALSE(clock.learn(""));
  EXPECT_EQ(clock.now(), noon);
}

TEST(ServiceClockTest, FollowsTheService) {
  base::ManualClock ours(noon);
  ServiceClock clock(ours);
  EXPECT_TRUE(clock.learn("Fri, 02 Jan 2026 13:30:00 GMT"));
  EXPECT_EQ(clock.now(), noon + std::chrono::minutes(90));
  EXPECT_FALSE(clock.learn("Fri, 02 Jan 2026 13:30:01 GMT")) << "nothing new";
  ours.set_by(std::chrono::minutes(90));
  EXPECT_TRUE(clock.learn("Fri, 02 Jan 2026 13:30:00 GMT")) << "ours was set right";
  EXPECT_EQ(clock.now(), noon + std::chrono::minutes(90));
}

}  // namespace
}  // namespace postino::remote
