#include "app/server/shutdown_plan.h"

#include <gtest/gtest.h>

namespace postino::app {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ShutdownPlanTest, EverythingSharesOneGrace) {
  const ShutdownPlan::Instant began{std::chrono::hours(5)};
  const ShutdownPlan plan(began, seconds(4));
  EXPECT_EQ(plan.break_off_brokers_at, began + seconds(2));
  EXPECT_EQ(plan.leave_at, began + seconds(3));
  EXPECT_EQ(plan.give_up_at, began + seconds(4)) << "nothing begins a grace of its own";
}

TEST(ShutdownPlanTest, WithoutAGraceNobodyWaits) {
  const ShutdownPlan::Instant began{std::chrono::hours(5)};
  const ShutdownPlan none(began, seconds(0));
  EXPECT_EQ(none.break_off_brokers_at, began);
  EXPECT_EQ(none.give_up_at, began);
  const ShutdownPlan shortest(began, milliseconds(1));
  EXPECT_LE(shortest.break_off_brokers_at, shortest.leave_at);
  EXPECT_LE(shortest.leave_at, shortest.give_up_at);
}

}  // namespace
}  // namespace postino::app
