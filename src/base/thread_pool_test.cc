#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <latch>
#include <memory>

namespace postino::base {
namespace {

// Keeps the only thread of a pool busy until it is let go. The pool must be stopped before this is gone.
class Occupation {
 public:
  explicit Occupation(ThreadPool& pool) {
    EXPECT_TRUE(pool.try_submit([this] {
      begun_.count_down();
      end_.wait();
    }));
    begun_.wait();
  }
  void end() { end_.count_down(); }

 private:
  std::latch begun_{1};
  std::latch end_{1};
};

TEST(ThreadPool, TasksOfOneThreadRunInTheirOrder) {
  std::vector<int> order;
  ThreadPool pool(1, 100);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(pool.try_submit([&order, i] { order.push_back(i); }));
  pool.stop();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(ThreadPool, TakesNoMoreThanMayWait) {
  std::atomic<int> runs = 0;
  ThreadPool pool(1, 2);
  Occupation occupation(pool);
  EXPECT_TRUE(pool.try_submit([&] { ++runs; }));
  EXPECT_TRUE(pool.try_submit([&] { ++runs; }));
  EXPECT_FALSE(pool.try_submit([&] { ++runs; }));
  EXPECT_EQ(pool.waiting(), 2U);
  occupation.end();
  pool.stop();
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(pool.waiting(), 0U);
}

TEST(ThreadPool, StopFinishesWhatWasTakenAndTakesNoMore) {
  std::atomic<int> runs = 0;
  ThreadPool pool(2, 100);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(pool.try_submit([&] { ++runs; }));
  pool.stop();
  EXPECT_EQ(runs, 50);
  EXPECT_FALSE(pool.try_submit([&] { ++runs; }));
  pool.stop();
  EXPECT_EQ(runs, 50);
}

TEST(ThreadPool, AsManyTasksRunAtATimeAsThereAreThreads) {
  std::barrier together(4);  // none gets past it unless all four run at the same time
  ThreadPool pool(4, 100);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(pool.try_submit([&] { together.arrive_and_wait(); }));
  pool.stop();
}

TEST(ThreadPool, LetsGoOfWhatATaskHeldWhenItHasRun) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = held;
  ThreadPool pool(1, 100);
  EXPECT_TRUE(pool.try_submit([held = std::move(held)] { EXPECT_EQ(*held, 1); }));
  Occupation after(pool);
  EXPECT_TRUE(seen.expired());
  after.end();
  pool.stop();
}

TEST(ThreadPoolConcurrent, EveryTaskThatWasTakenRunsOnce) {
  constexpr int submitters = 4;
  constexpr int tasks_each = 2000;
  std::atomic<int> runs = 0;
  std::atomic<int> taken = 0;
  ThreadPool pool(3, 16);
  std::vector<std::thread> threads;
  for (int i = 0; i < submitters; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < tasks_each; ++k)
        if (pool.try_submit([&] { ++runs; })) ++taken;
    });
  for (std::thread& thread : threads) thread.join();
  pool.stop();
  EXPECT_EQ(runs, taken);
  EXPECT_GT(taken, 0);
}

TEST(ThreadPoolConcurrent, StopsWhileOthersSubmitAndStop) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> runs = 0;
    std::atomic<int> taken = 0;
    ThreadPool pool(2, 1000);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] {
        while (pool.try_submit([&] { ++runs; })) ++taken;
      });
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&] {
        pool.stop();
        EXPECT_EQ(pool.waiting(), 0U);
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(runs, taken);
  }
}

}  // namespace
}  // namespace postino::base
