// Many at once: one of them executes, and every message is given out once.
#include <gmock/gmock.h>

#include <atomic>
#include <mutex>
#include <set>
#include <shared_mutex>

#include "base/many_threads_testing.h"
#include "service_environment.h"

namespace postino::messages {
namespace {

using base::run_threads;
using base::volume;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Tally {
  std::atomic<int> executed = 0, replayed = 0, conflicts = 0, others = 0;

  void count(const Result<Reply>& reply) {
    if (reply)
      ++(reply->replayed ? replayed : executed);
    else
      ++(reply.error().kind == FaultKind::in_progress ? conflicts : others);
  }
};

TEST(ConcurrentMessages, OfAHundredCallsWithOneKeyOneProduces) {
  constexpr int calls = 100;
  ServiceEnvironment environment(std::make_shared<base::SystemClock>());
  const auto one = environment.make_service(), two = environment.make_service();
  const ProduceRequest request = produce_request("k", 30, 5);
  Tally tally;
  run_threads(calls, [&](int i) { tally.count((i % 2 == 0 ? one : two)->produce(request, {})); });
  EXPECT_EQ(tally.executed, 1);
  EXPECT_EQ(tally.replayed + tally.conflicts, calls - 1);
  EXPECT_THAT(take_all(environment.embedded(), "q"), SizeIs(30));
  EXPECT_TRUE(one->produce(request, {})->replayed);
}

TEST(ConcurrentMessages, OfAHundredCallsWithOneKeyOneConsumes) {
  constexpr int calls = 100;
  ServiceEnvironment environment(std::make_shared<base::SystemClock>());
  const auto one = environment.make_service(), two = environment.make_service();
  ASSERT_TRUE(is_complete(environment.embedded().produce("q", numbered(50), {}, nullptr)));
  const ConsumeRequest request = consume_request("k", 20);
  Tally tally;
  std::mutex mutex;
  std::set<std::string> bodies;
  run_threads(calls, [&](int i) {
    const auto reply = (i % 2 == 0 ? one : two)->consume(request, {});
    tally.count(reply);
    const std::lock_guard lock(mutex);
    if (reply) bodies.insert(reply->body);
  });
  EXPECT_EQ(tally.executed, 1);
  EXPECT_EQ(tally.replayed + tally.conflicts, calls - 1);
  EXPECT_THAT(bodies, SizeIs(1));
  EXPECT_THAT(take_all(environment.embedded(), "q"), SizeIs(30));
}

TEST(ConcurrentMessages, OneTakesOverWhatADeadProcessLeft) {
  const auto clock = std::make_shared<base::ManualClock>(test_start);
  ServiceEnvironment environment(clock);
  const ProduceRequest request = produce_request("k", 30, 5);
  ASSERT_FALSE(environment.make_service([](Step step) { return step != Step::progressed; })->produce(request, {}));
  clock->advance(seconds(30));
  const auto service = environment.make_service();
  Tally tally;
  run_threads(20, [&](int) { tally.count(service->produce(request, {})); });
  EXPECT_EQ(tally.executed, 1);
  EXPECT_EQ(tally.others, 0);
  EXPECT_THAT(take_all(environment.embedded(), "q"), SizeIs(30));
}

TEST(ConcurrentMessages, ManyKeysGoTheirWaysTogether) {
  const int keys = volume(40);
  ServiceEnvironment environment(std::make_shared<base::SystemClock>());
  const auto service = environment.make_service();
  Tally produced;
  run_threads(8, [&](int thread) {
    for (int key = 0; key < keys; ++key)
      produced.count(service->produce(produce_request(std::to_string((key + thread) % keys), 5), {}));
  });
  EXPECT_EQ(produced.executed, keys);
  EXPECT_EQ(produced.others, 0);
  std::atomic<std::size_t> consumed = 0;
  run_threads(8, [&](int thread) {
    for (int key = 0; key < keys; ++key) {
      const auto reply = service->consume(consume_request(std::to_string(thread) + "-" + std::to_string(key), 3), {});
      ASSERT_TRUE(succeeded(reply));
      consumed += reply->processed;
    }
  });
  EXPECT_EQ(consumed, static_cast<std::size_t>(keys) * 5);
  EXPECT_THAT(take_all(environment.embedded(), "q"), IsEmpty());
}

TEST(ConcurrentStoreQueue, EveryMessageIsGivenOutOnceByTwoProcesses) {
  constexpr int threads = 4;
  const auto each = static_cast<std::size_t>(volume(400));
  MessageStore store(std::make_shared<base::SystemClock>());
  const std::unique_ptr<StoreQueue> processes[] = {store.make_queue({.poll = milliseconds(5)}),
                                                   store.make_queue({.poll = milliseconds(5)})};
  std::atomic<std::size_t> received = 0;
  std::mutex mutex;
  std::set<std::string> ids;
  run_threads(2 * threads, [&](int thread) {
    StoreQueue& queue = *processes[thread % 2];
    if (thread < threads) {
      EXPECT_TRUE(
          is_complete(queue.produce("q", numbered(each, std::to_string(thread) + "-"), {.window = 20}, nullptr)));
      return;
    }
    for (int round = 0; received < threads * each; ++round) {
      auto held = queue.receive("q", {.max_messages = 30, .wait = milliseconds(20)});
      ASSERT_TRUE(succeeded(held));
      const auto& messages = (*held)->messages();
      if (messages.empty()) continue;
      // Some are given back, or forgotten, now and then.
      if (round % 7 == 3) {
        ASSERT_TRUE(succeeded((*held)->release()));
        continue;
      }
      if (round % 7 == 5) continue;
      ASSERT_TRUE(succeeded((*held)->acknowledge()));
      received += messages.size();
      const std::lock_guard lock(mutex);
      for (const broker::Message& message : messages) EXPECT_TRUE(ids.insert(message.id).second) << message.id;
    }
  });
  EXPECT_THAT(ids, SizeIs(threads * each));
  EXPECT_EQ(store.count_messages(), 0U);
  EXPECT_EQ(processes[0]->depth("q")->ready, 0U);
}

}  // namespace
}  // namespace postino::messages
