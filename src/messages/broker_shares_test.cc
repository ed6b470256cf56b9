#include "messages/broker_shares.h"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <thread>

#include "base/many_threads_testing.h"

namespace postino::messages {
namespace {

using broker::Standing;
using ::testing::ElementsAre;

// Calls that stay where they are until they are let go.
class ConcurrentBrokerShares : public ::testing::Test {
 protected:
  ~ConcurrentBrokerShares() override {
    let_go();
    for (std::thread& thread : threads_) thread.join();
  }

  BrokerTarget target(const std::string& broker) {
    return {broker, [this, broker] { return standings_[broker].load(); }};
  }
  // As many calls as there are threads for; returns when they are at the broker.
  void occupy(const std::string& broker, int count) {
    const int before = inside_;
    for (int i = 0; i < count; ++i)
      threads_.emplace_back([this, broker] {
        EXPECT_TRUE(shares_.run(target(broker), [this] {
          ++inside_;
          released_.wait();
        }));
      });
    ASSERT_TRUE(base::eventually([&] { return inside_ == before + count; }));
  }
  // Whether a call was run at once.
  bool runs(const std::string& broker) {
    const auto has_run = std::make_shared<bool>(false);
    EXPECT_TRUE(shares_.run(target(broker), [this, has_run] {
      *has_run = true;
      ++done_;
    }));
    return *has_run;
  }
  void let_go() {
    if (!std::exchange(is_released_, true)) release_.set_value();
  }

  std::map<std::string, std::atomic<Standing>> standings_ = [] {
    std::map<std::string, std::atomic<Standing>> all;
    for (const char* name : {"a", "b", "c", "d"}) all[name] = Standing::unproven;
    return all;
  }();
  BrokerShares shares_{{.threads = 8, .waiting = 64}};
  std::promise<void> release_;
  const std::shared_future<void> released_ = release_.get_future().share();
  bool is_released_ = false;
  std::atomic<int> inside_ = 0;
  std::atomic<int> done_ = 0;
  std::vector<std::thread> threads_;
};

TEST_F(ConcurrentBrokerShares, OneThatHasNotAnsweredHasAQuarterOfTheThreadsAndFewMayWait) {
  occupy("a", 2);
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(runs("a")) << i;
  EXPECT_EQ(shares_.waiting(), 4U);
  EXPECT_FALSE(shares_.run(target("a"), [] { ADD_FAILURE() << "it was refused"; }));
  EXPECT_TRUE(runs("b")) << "another broker";
  EXPECT_TRUE(shares_.run({"", nullptr}, [this] { ++done_; })) << "the queues in the store";
  EXPECT_EQ(done_, 2);
  let_go();
  EXPECT_TRUE(base::eventually([&] { return done_ == 6; })) << "those that have waited";
  EXPECT_EQ(shares_.waiting(), 0U);
}

TEST_F(ConcurrentBrokerShares, OneThatAnswersHasHalfOfTheThreadsAndMoreMayWait) {
  standings_["a"] = Standing::answers;
  occupy("a", 4);
  for (int i = 0; i < 16; ++i) EXPECT_FALSE(runs("a")) << i;
  EXPECT_FALSE(shares_.run(target("a"), [] { ADD_FAILURE() << "it was refused"; }));
  EXPECT_TRUE(runs("b"));
}

TEST_F(ConcurrentBrokerShares, AllBrokersTogetherLeaveThreadsToTheQueuesInTheStore) {
  standings_["d"] = Standing::answers;
  occupy("a", 2);
  occupy("b", 2);
  EXPECT_FALSE(runs("c")) << "those that have not answered have half together";
  occupy("d", 2);
  EXPECT_FALSE(runs("d"));
  EXPECT_TRUE(shares_.run({"", nullptr}, [this] { ++done_; }));
  EXPECT_EQ(done_, 1);
}

TEST_F(ConcurrentBrokerShares, ThoseWhoWaitHearAtOnceThatTheirBrokerIsSilent) {
  std::promise<void> first_ends;
  std::thread first([&] {
    EXPECT_TRUE(shares_.run(target("a"), [&] {
      ++inside_;
      first_ends.get_future().wait();
    }));
  });
  ASSERT_TRUE(base::eventually([&] { return inside_ == 1; }));
  occupy("a", 1);
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(runs("a"));
  standings_["a"] = Standing::silent;
  first_ends.set_value();
  first.join();
  EXPECT_EQ(done_, 4) << "although another one still waits for the broker";
  EXPECT_TRUE(runs("a")) << "to be refused";
}

TEST(BrokerSharesTurns, GoRoundAmongBrokers) {
  BrokerShares shares({.threads = 1, .waiting = 64});
  std::vector<std::string> order;
  const auto unproven = [] { return Standing::unproven; };
  EXPECT_TRUE(shares.run({"a", unproven}, [&] {
    for (const char* name : {"a1", "a2", "a3", "b1", "b2"})
      EXPECT_TRUE(shares.run({std::string(1, name[0]), unproven}, [&order, name] { order.emplace_back(name); }));
    EXPECT_TRUE(order.empty()) << "there is one thread";
  }));
  EXPECT_THAT(order, ElementsAre("a1", "b1", "a2", "b2", "a3"));
}

}  // namespace
}  // namespace postino::messages
