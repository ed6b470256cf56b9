#include "remote/calls/retry_budget.h"

#include <gtest/gtest.h>

namespace postino::remote {
namespace {

TEST(RetryBudget, IsSpentByRepeats) {
  RetryBudget budget;
  for (int i = 0; i < RetryBudget::capacity / RetryBudget::repeat_cost; ++i)
    ASSERT_EQ(budget.take(false), RetryBudget::repeat_cost);
  EXPECT_EQ(budget.left(), 0);
  EXPECT_EQ(budget.take(false), std::nullopt);
}

TEST(RetryBudget, CostsMoreAfterATimeout) {
  RetryBudget budget;
  EXPECT_EQ(budget.take(true), RetryBudget::repeat_after_timeout_cost);
  EXPECT_EQ(budget.left(), RetryBudget::capacity - RetryBudget::repeat_after_timeout_cost);
}

TEST(RetryBudget, ComesBackWithSuccess) {
  RetryBudget budget;
  ASSERT_TRUE(budget.take(true));
  ASSERT_TRUE(budget.take(false));
  budget.succeed(RetryBudget::repeat_cost);
  EXPECT_EQ(budget.left(), RetryBudget::capacity - RetryBudget::repeat_after_timeout_cost);
  budget.succeed(0);
  EXPECT_EQ(budget.left(), RetryBudget::capacity - RetryBudget::repeat_after_timeout_cost + 1);
  for (int i = 0; i < RetryBudget::capacity; ++i) budget.succeed(0);
  EXPECT_EQ(budget.left(), RetryBudget::capacity);
}

}  // namespace
}  // namespace postino::remote
