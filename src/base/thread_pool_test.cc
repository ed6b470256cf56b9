#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <latch>
#include <memory>
#include <set>
#include <thread>

#include "base/many_threads_testing.h"

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

constexpr std::chrono::hours for_ever{1'000};
constexpr std::chrono::milliseconds no_rest{0};

// Each keeps a thread until all are there.
void run_together(ThreadPool& pool, int count) {
  std::latch together(count);
  std::latch done(count);
  for (int i = 0; i < count; ++i)
    EXPECT_TRUE(pool.try_submit([&] {
      together.arrive_and_wait();
      done.count_down();
    }));
  done.wait();
}

TEST(ThreadPool, HasNoMoreThreadsThanItsTasksNeeded) {
  ThreadPool pool(4, 100, ThreadPool::Priority::usual, for_ever);
  EXPECT_EQ(pool.threads(), 0U);
  run_together(pool, 2);
  EXPECT_EQ(pool.threads(), 2U);
  ASSERT_TRUE(eventually([&] { return pool.resting() == 2; }));
  run_together(pool, 2);
  EXPECT_EQ(pool.threads(), 2U) << "those that rest come first";
  ASSERT_TRUE(eventually([&] { return pool.resting() == 2; }));
  run_together(pool, 4);
  EXPECT_EQ(pool.threads(), 4U);
  pool.stop();
  EXPECT_EQ(pool.threads(), 0U);
}

TEST(ThreadPool, ThreadsGoWhenThereIsNothingToDoAndComeAgain) {
  ThreadPool pool(4, 100, ThreadPool::Priority::usual, no_rest);
  for (int round = 0; round < 3; ++round) {
    run_together(pool, 4);
    EXPECT_TRUE(eventually([&] { return pool.threads() == 0; }));
  }
}

TEST(ThreadPool, TheThreadThatWorkedLastWorksNext) {
  ThreadPool pool(4, 100, ThreadPool::Priority::usual, for_ever);
  run_together(pool, 4);
  std::set<std::thread::id> seen;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(eventually([&] { return pool.resting() == 4; }));
    std::latch done(1);
    EXPECT_TRUE(pool.try_submit([&] {
      seen.insert(std::this_thread::get_id());
      done.count_down();
    }));
    done.wait();
  }
  EXPECT_EQ(seen.size(), 1U) << "the others would never have been without work for long";
}

TEST(ThreadPoolConcurrent, TasksRunOnceAndInTimeWhileThreadsComeAndGo) {
  std::atomic<int> runs = 0;
  ThreadPool pool(3, 1'000'000, ThreadPool::Priority::usual, no_rest);
  run_threads(4, [&](int) {
    for (int i = 0; i < 500; ++i) {
      std::latch done(1);
      ASSERT_TRUE(pool.try_submit([&] {
        ++runs;
        done.count_down();
      }));
      done.wait();  // for ever, if a task is left behind by a thread that goes
    }
  });
  pool.stop();
  EXPECT_EQ(runs, 2'000);
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

// Counts when its thread has ended, and not before.
struct Farewell {
  ~Farewell() {
    if (ended != nullptr) ++*ended;
  }
  std::atomic<int>* ended = nullptr;
};
thread_local Farewell farewell;

TEST(ThreadGroup, JoinsWhatEndedBeforeAndWhatRuns) {
  std::atomic<int> ended = 0;
  std::latch go_on(1);
  ThreadGroup group;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(group.try_start([&] { farewell.ended = &ended; }));
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(group.try_start([&] {
      farewell.ended = &ended;
      go_on.wait();
    }));
  ASSERT_TRUE(eventually([&] { return ended >= 9; })) << "a thread that ends waits for the one before";
  go_on.count_down();
  group.join();
  EXPECT_EQ(ended, 20);
  group.join();
}

TEST(ThreadGroup, MayBeUsedAgain) {
  std::atomic<int> ended = 0;
  ThreadGroup group;
  for (int round = 1; round <= 3; ++round) {
    ASSERT_TRUE(group.try_start([&] { farewell.ended = &ended; }));
    group.join();
    EXPECT_EQ(ended, round);
  }
}

TEST(ThreadGroup, LetsGoOfWhatAThreadWasGivenWhenItHasRun) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = held;
  ThreadGroup group;
  ASSERT_TRUE(group.try_start([held = std::move(held)] { EXPECT_EQ(*held, 1); }));
  group.join();
  EXPECT_TRUE(seen.expired());
}

TEST(ThreadGroupConcurrent, AllWhoJoinWaitForTheEnd) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ended = 0;
    ThreadGroup group;
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(group.try_start([&] { farewell.ended = &ended; }));
    run_threads(3, [&](int) {
      group.join();
      EXPECT_EQ(ended, 5);
    });
  }
}

}  // namespace
}  // namespace postino::base
