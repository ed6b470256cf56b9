// Many threads, one client.
#include <gmock/gmock.h>

#include <atomic>
#include <set>
#include <thread>

#include "shared_server.h"

namespace postino::broker {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(ConcurrentBroker, ManyThreadsSendAndReceive) {
  constexpr int threads = 6;
  constexpr std::size_t each = 400;
  const std::string queue = fresh_queue();
  const auto broker = shared_broker();
  std::atomic<std::size_t> received = 0;
  std::mutex mutex;
  std::set<std::string> ids;
  std::size_t received_again = 0;
  std::atomic<std::size_t> sent_again = 0;
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      const auto report =
          broker->produce(queue, numbered(each, std::to_string(t) + "-"), {.window = 50, .connections = 1 + t % 2});
      EXPECT_TRUE(is_complete(report));
      sent_again += report.sent_again;
    });
    all.emplace_back([&] {
      for (int turn = 0; received < threads * each && !HasFailure(); ++turn) {
        auto held = broker->receive(queue, {.max_messages = 100, .wait = Milliseconds(50)});
        ASSERT_TRUE(succeeded(held));
        const auto& messages = (*held)->messages();
        if (messages.empty()) continue;
        // Some are given back, and some are forgotten.
        if (turn % 5 == 3) continue;
        if (turn % 5 == 4) {
          ASSERT_TRUE(succeeded((*held)->release()));
          continue;
        }
        ASSERT_TRUE(succeeded((*held)->acknowledge()));
        const std::lock_guard lock(mutex);
        for (const Message& message : messages)
          if (!ids.insert(message.id).second) ++received_again;
        received = ids.size();
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  EXPECT_THAT(ids, SizeIs(threads * each));
  EXPECT_LE(received_again + take_all(queue).size(), sent_again);
}

TEST(ConcurrentBroker, ManyThreadsFailAndSucceedTogether) {
  const std::string queue = fresh_queue();
  ConnectionSettings unreachable = plain_settings();
  unreachable.endpoints = {{"127.0.0.1", 1}};
  const auto good = shared_broker(), bad = broker_with(unreachable);
  std::vector<std::thread> all;
  for (int t = 0; t < 8; ++t) {
    all.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        if (t % 4 == 0) {
          EXPECT_EQ(kind_of(bad->test()), "unreachable");
        } else if (t % 4 == 1) {
          EXPECT_EQ(kind_of(good->receive("nowhere", {})), "no such queue");
        } else if (t % 4 == 2) {
          EXPECT_TRUE(succeeded(good->test()));
        } else {
          const std::string prefix = std::to_string(t) + "-" + std::to_string(i) + "-";
          EXPECT_TRUE(is_complete(good->produce(queue, numbered(10, prefix), {.window = 3})));
        }
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  EXPECT_THAT(take_all(queue, 100), SizeIs(100));
}

TEST(ConcurrentBroker, ClientsComeAndGoWhileTheirConnectionsAreUsed) {
  const std::string queue = fresh_queue();
  for (int i = 0; i < 5; ++i) {
    auto client = AmqpClient::create({});
    ASSERT_TRUE(client);
    const auto broker = (*client)->broker(plain_settings());
    ASSERT_TRUE(succeeded(broker));
    std::thread sender(
        [&] { EXPECT_TRUE(is_complete((*broker)->produce(queue, numbered(20, std::to_string(i) + "-"), {}))); });
    EXPECT_TRUE(succeeded((*broker)->test()));
    sender.join();
    client->reset();
  }
  const auto ids = ids_of(take_all(queue, 100));
  EXPECT_THAT(std::set<std::string>(ids.begin(), ids.end()), SizeIs(100));
}

}  // namespace
}  // namespace postino::broker
