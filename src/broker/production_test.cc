#include "broker/production.h"

#include <gmock/gmock.h>

#include <thread>

namespace postino::broker {
namespace {

using ::testing::ElementsAre;

Messages empty_messages(std::size_t count) {
  return {count, [](std::size_t position) { return Message{.id = std::to_string(position)}; }};
}

TEST(Production, CountsWhatIsConfirmedFromTheBeginning) {
  const Messages messages = empty_messages(5);
  std::vector<std::size_t> told;
  const OnConfirmed on_confirmed = [&](std::size_t prefix) {
    told.push_back(prefix);
    return true;
  };
  const ProduceOptions options;
  Production production(messages, options, on_confirmed);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(production.next(), i);
    production.mark_sent(i);
  }
  EXPECT_EQ(production.next(), std::nullopt);
  production.confirm({1, 2});
  EXPECT_EQ(production.report().prefix, 0U);
  EXPECT_EQ(production.report().confirmed, 2U);
  production.confirm({0});
  production.confirm({4});
  production.confirm({3});
  EXPECT_THAT(told, ElementsAre(3, 5));
  EXPECT_TRUE(production.report().complete());
}

TEST(Production, SendsAgainWhatWasGivenBack) {
  const Messages messages = empty_messages(4);
  const OnConfirmed nobody;
  const ProduceOptions options{.first = 1};
  Production production(messages, options, nobody);
  EXPECT_EQ(production.next(), 1U);
  EXPECT_EQ(production.next(), 2U);
  production.mark_sent(1);
  production.mark_sent(2);
  production.confirm({2});
  production.give_back({1});
  EXPECT_EQ(production.report().states,
            (std::vector{SendState::confirmed, SendState::in_doubt, SendState::confirmed, SendState::unsent}));
  EXPECT_EQ(production.next(), 1U);
  production.mark_sent(1);
  EXPECT_EQ(production.next(), 3U);
  EXPECT_EQ(production.report().sent_again, 1U);
}

TEST(Production, EndsWhenNothingMayBeSentAnyMore) {
  const Messages messages = empty_messages(3);
  const OnConfirmed nobody;
  int asked = 0;
  ProduceOptions options;
  options.may_send = [&] { return ++asked < 2; };
  Production production(messages, options, nobody);
  EXPECT_EQ(production.next(), 0U);
  production.mark_sent(0);
  EXPECT_EQ(production.next(), std::nullopt);
  EXPECT_TRUE(production.is_stopped());
  EXPECT_EQ(production.next(), std::nullopt);
  EXPECT_EQ(asked, 2) << "it is not asked when there is nothing to be sent";
  production.confirm({0});
  EXPECT_EQ(production.report().prefix, 1U);
  EXPECT_EQ(production.report().failure->kind, FailureKind::stopped);
}

// The process that goes on after a crash sends again what is behind the first gap: that must not be much.
TEST(Production, DoesNotGetFarAheadOfAGap) {
  const Messages messages = empty_messages(100);
  const OnConfirmed nobody;
  const ProduceOptions options{.first = 10, .window = 3, .connections = 2};
  Production production(messages, options, nobody);
  const auto later = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (std::size_t i = 10; i < 16; ++i) EXPECT_EQ(production.next(), i);
  EXPECT_EQ(production.next(), std::nullopt);
  production.confirm({11, 12, 13, 14, 15});
  EXPECT_EQ(production.next(), std::nullopt) << "10 is missing";
  std::thread slow([&] { production.confirm({10}); });
  EXPECT_TRUE(production.await_next(later));
  slow.join();
  EXPECT_EQ(production.next(), 16U);
  production.stop({FailureKind::lost, "over", {}});
  EXPECT_FALSE(production.await_next(later));
}

TEST(Production, WaitsForNothingWhenAllIsHandedOut) {
  const Messages messages = empty_messages(2);
  const OnConfirmed nobody;
  const ProduceOptions options{.window = 1, .connections = 2};
  Production production(messages, options, nobody);
  EXPECT_TRUE(production.next());
  EXPECT_TRUE(production.next());
  const auto later = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  EXPECT_FALSE(production.await_next(later));
  production.give_back({0});
  EXPECT_TRUE(production.await_next(later));
}

TEST(Production, EndsWithTheFirstFailure) {
  const Messages messages = empty_messages(3);
  const OnConfirmed nobody;
  const ProduceOptions options;
  Production production(messages, options, nobody);
  EXPECT_EQ(production.next(), 0U);
  production.mark_sent(0);
  production.reject(0, {FailureKind::rejected, "no", {}});
  production.stop({FailureKind::lost, "later", {}});
  EXPECT_EQ(production.next(), std::nullopt);
  EXPECT_TRUE(production.is_stopped());
  const ProduceReport report = production.report();
  EXPECT_EQ(report.failure->message, "message 0: no; 0 of 3 messages are confirmed");
  EXPECT_FALSE(report.complete());
}

TEST(Production, IsCompleteWhenTheCallerWantsNoMoreAfterTheLast) {
  const Messages messages = empty_messages(1);
  const OnConfirmed enough = [](std::size_t) { return false; };
  const ProduceOptions options;
  Production production(messages, options, enough);
  production.next();
  production.mark_sent(0);
  production.confirm({0});
  EXPECT_TRUE(production.report().complete());
}

TEST(ConcurrentProduction, TellsGrowingPrefixesOneAtATime) {
  constexpr std::size_t count = 20'000;
  const Messages messages = empty_messages(count);
  std::size_t last = 0;  // without a lock: the calls come one at a time
  const OnConfirmed on_confirmed = [&](std::size_t prefix) {
    EXPECT_GT(prefix, last);
    last = prefix;
    return true;
  };
  const ProduceOptions options;
  Production production(messages, options, on_confirmed);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      while (const auto position = production.next()) {
        EXPECT_EQ(production.message(*position).id, std::to_string(*position));
        production.mark_sent(*position);
        production.confirm({*position});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(last, count);
  EXPECT_TRUE(production.report().complete());
}

}  // namespace
}  // namespace postino::broker
