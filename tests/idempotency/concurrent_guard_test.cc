// Many at once: one of them executes, and leases are kept while executions come and go.
#include <gmock/gmock.h>

#include <atomic>
#include <shared_mutex>

#include "base/many_threads_testing.h"
#include "engine/embedded_store_testing.h"
#include "idempotency/guard.h"
#include "idempotency/lease_keeper.h"

namespace postino::idempotency {
namespace {

using base::eventually;
using base::run_threads;
using base::volume;
using engine::embedded_start;
using engine::EmbeddedStore;
using std::chrono::seconds;

TEST(ConcurrentGuardTest, OneOfAHundredExecutes) {
  const auto clock = std::make_shared<base::ManualClock>(embedded_start);
  EmbeddedStore store(clock);
  const GuardOptions options;
  ASSERT_TRUE(prepare_tables(store.engine(), options.table));
  Guard guard(store.engine(), *clock, store.random(), options);
  const store::Retry retry = store.retry();
  std::atomic<int> executions = 0;
  std::atomic<int> answers = 0;
  run_threads(100, [&](int) {
    EXPECT_TRUE(eventually([&] {
      const auto begun = retry([&] { return guard.begin("PRODUCE", "k", "h"); });
      if (!begun) return false;
      if (begun->state == KeyState::execute) {
        ++executions;
        EXPECT_TRUE(retry([&] { return guard.complete(begun->record, "answer"); }));
      }
      if (begun->state != KeyState::replay) return false;
      EXPECT_EQ(begun->record.response, "answer");
      ++answers;
      return true;
    }));
  });
  EXPECT_EQ(executions, 1);
  EXPECT_EQ(answers, 100);
}

TEST(ConcurrentLeaseKeeper, KeepsLeasesWhileExecutionsComeAndGo) {
  constexpr int threads = 6;
  const int rounds = volume(60);
  const auto clock = std::make_shared<base::ManualClock>(embedded_start);
  EmbeddedStore store(clock);
  const GuardOptions options;
  ASSERT_TRUE(prepare_tables(store.engine(), options.table));
  Guard guard(store.engine(), *clock, store.random(), options);
  LeaseKeeper keeper(guard, *clock);
  std::atomic<int> working = threads;
  std::shared_mutex time;  // stands still while a thread holds it, because it runs faster here than a thread can look
  run_threads(threads + 2, [&](int thread) {
    // Two renew all the time; without them every lease would end.
    while (thread >= threads && working > 0) {
      if (thread == threads) {
        const std::lock_guard lock(time);
        clock->advance(seconds(4));
      }
      keeper.renew_once();
    }
    for (int round = 0; thread < threads && round < rounds; ++round) {
      const std::string key = std::to_string(thread) + "-" + std::to_string(round);
      std::shared_lock still(time);
      const auto begun = guard.begin("PRODUCE", key, "hash");
      ASSERT_TRUE(begun);
      const auto hold = keeper.hold(begun->record);
      still.unlock();
      const base::TimePoint end = clock->now() + seconds(60);
      while (round % 4 == 0 && clock->now() < end) std::this_thread::yield();
      if (round % 4 == 0) {
        const std::shared_lock looking(time);
        EXPECT_EQ(guard.look("PRODUCE", key, "hash")->state, KeyState::in_progress);
      }
      EXPECT_FALSE(hold->is_lost());
      EXPECT_TRUE(guard.complete(begun->record, "done"));
    }
    if (thread < threads) --working;
  });
}

}  // namespace
}  // namespace postino::idempotency
