#include "base/memory_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace postino::base {
namespace {

TEST(MemoryBudget, SharesAreGivenBackWhenTheyGo) {
  MemoryBudget budget(100);
  {
    MemoryBudget::Share first = budget.take(60);
    EXPECT_TRUE(first);
    EXPECT_EQ(budget.taken(), 60u);
    const MemoryBudget::Share moved = std::move(first);
    EXPECT_TRUE(moved);
    EXPECT_EQ(budget.taken(), 60u);
  }
  EXPECT_EQ(budget.taken(), 0u);
}

TEST(MemoryBudget, AShareThatIsReplacedIsGivenBack) {
  MemoryBudget budget(100);
  MemoryBudget::Share share = budget.take(60);
  share = budget.take(40);
  EXPECT_EQ(budget.taken(), 40u);
  share = {};
  EXPECT_EQ(budget.taken(), 0u);
}

TEST(MemoryBudget, WhatDoesNotFitIsRefusedAndTakesNothing) {
  MemoryBudget budget(100);
  const MemoryBudget::Share first = budget.take(60);
  EXPECT_FALSE(budget.take(41));
  EXPECT_EQ(budget.taken(), 60u);
  EXPECT_EQ(budget.refused(), 1u);
  EXPECT_TRUE(budget.take(40));
}

TEST(MemoryBudget, AShareGrowsWhereThereIsRoomAndShrinks) {
  MemoryBudget budget(100);
  MemoryBudget::Share share = budget.take(10);
  EXPECT_TRUE(share.grow(80));
  EXPECT_EQ(share.bytes(), 90u);
  EXPECT_FALSE(share.grow(11));
  EXPECT_EQ(budget.taken(), 90u);
  EXPECT_EQ(budget.refused(), 1u);
  {
    const MemoryBudget::Share other = budget.take(1);
    EXPECT_FALSE(share.grow_alone(1'000));
  }
  EXPECT_TRUE(share.grow_alone(1'000));
  EXPECT_EQ(budget.taken(), 1'090u);
  share.shrink_to(30);
  EXPECT_EQ(budget.taken(), 30u);
  share.shrink_to(50);
  EXPECT_EQ(budget.taken(), 30u) << "that is no way to grow";
  share = {};
  EXPECT_EQ(budget.taken(), 0u);
}

TEST(MemoryBudget, WhatIsThereAlreadyCountsInAnyCase) {
  MemoryBudget budget(100);
  EXPECT_FALSE(budget.scarce());
  const MemoryBudget::Share half = budget.take_anyway(50);
  EXPECT_TRUE(budget.scarce());
  EXPECT_FALSE(budget.exhausted());
  const MemoryBudget::Share more = budget.take_anyway(200);
  EXPECT_TRUE(budget.exhausted());
  EXPECT_EQ(budget.taken(), 250u);
}

TEST(MemoryBudgetConcurrent, NoMoreIsTakenThanThereIs) {
  MemoryBudget budget(4);
  std::atomic<bool> exceeded = false;
  std::atomic<int> holders = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 1'000; ++round) {
        const MemoryBudget::Share share = budget.take(1);
        if (!share) continue;
        if (++holders > 4) exceeded = true;
        --holders;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(exceeded);
  EXPECT_EQ(budget.taken(), 0u);
}

TEST(MemoryBudget, MetricsHaveALineForEachUse) {
  MemoryBudget answers(10);
  MemoryBudget reading(20);
  const MemoryBudget::Share share = answers.take(5);
  (void)answers.take(6);
  std::string text;
  append_memory_metrics(text, {{"answers", &answers}, {"reading", &reading}});
  EXPECT_EQ(text,
            "# HELP postino_memory_taken_bytes Memory that requests take, where it has a limit.\n"
            "# TYPE postino_memory_taken_bytes gauge\n"
            "postino_memory_taken_bytes{use=\"answers\"} 5\n"
            "postino_memory_taken_bytes{use=\"reading\"} 0\n"
            "# HELP postino_memory_limit_bytes Memory that requests may take.\n"
            "# TYPE postino_memory_limit_bytes gauge\n"
            "postino_memory_limit_bytes{use=\"answers\"} 10\n"
            "postino_memory_limit_bytes{use=\"reading\"} 20\n"
            "# HELP postino_memory_refused_total Requests that were refused because too much memory was taken.\n"
            "# TYPE postino_memory_refused_total counter\n"
            "postino_memory_refused_total{use=\"answers\"} 1\n"
            "postino_memory_refused_total{use=\"reading\"} 0\n");
}

}  // namespace
}  // namespace postino::base
