// Subscribers of several processes on one store: one of them delivers.
#include "broker/production.h"
#include "metrics/subscribers.h"
#include "store/shared_store_testing.h"
#include "support_desk.h"

namespace postino::metrics {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// What it has confirmed.
class NotingBroker final : public broker::Broker {
 public:
  broker::ProduceReport produce(const std::string&, const broker::Messages& messages,
                                const broker::ProduceOptions& options,
                                const broker::OnConfirmed& on_confirmed) override {
    broker::Production production(messages, options, on_confirmed);
    while (const auto position = production.next()) {
      if (refuses) {
        production.reject(*position, {broker::FailureKind::rejected, "not this one", {}});
        break;
      }
      ids.push_back(production.message(*position).id);
      production.confirm({*position});
    }
    return production.report();
  }
  broker::Result<std::unique_ptr<broker::Held>> receive(const std::string&, const broker::ReceiveOptions&) override {
    return broker::refuse(broker::FailureKind::unsupported, "");
  }
  broker::Result<broker::Depth> depth(const std::string&) override { return broker::Depth{}; }
  broker::Result<broker::Identity> test() override { return broker::Identity{}; }

  bool refuses = false;
  std::vector<std::string> ids;
};

class SharedSubscribersTest : public ::testing::Test {
 protected:
  SharedSubscribersTest() : first_(make()), second_(make()) {}

  std::unique_ptr<Subscribers> make() {
    auto subscribers = std::make_unique<Subscribers>(store_, metrics_table, following_at_once(""), desk_.clock(),
                                                     desk_.random(), desk_.retry());
    EXPECT_TRUE(subscribers->add(
        {.name = "mine", .table = tickets_table, .target = QueueTarget{.broker = &broker_, .queue = "changes"}}));
    return subscribers;
  }
  static Follower::Round run(Subscribers& subscribers) { return subscribers.follower("mine")->run_once(); }
  // Until nothing is left.
  static void run_all(Subscribers& subscribers) {
    for (int i = 0; i < 30; ++i)
      if (const auto round = run(subscribers); round == Follower::Round::waiting) return;
  }
  void put(const std::string& id) { desk_.put(ticket_item(id, "NEW", desk_.now())); }

  SupportDesk desk_;
  store::SharedStore store_{desk_.engine()};
  NotingBroker broker_;
  std::unique_ptr<Subscribers> first_, second_;
};

TEST_F(SharedSubscribersTest, AProcessThatWasStoppedForLongerThanItsLeaseDeliversNothingMore) {
  put("0");
  run_all(*first_);
  ASSERT_THAT(broker_.ids, SizeIs(1));
  EXPECT_EQ(run(*second_), Follower::Round::standing_by);
  put("1");
  // The first one is stopped here.
  desk_.time().advance(16s);
  run_all(*second_);
  EXPECT_THAT(broker_.ids, SizeIs(2));
  // And goes on: it thinks that it still follows.
  for (int i = 0; i < 5; ++i) run(*first_);
  EXPECT_THAT(broker_.ids, SizeIs(2)) << "nothing is delivered twice";
  EXPECT_FALSE(first_->follower("mine")->counts().follows);
  put("2");
  for (int i = 0; i < 5; ++i) run(*first_);
  run_all(*second_);
  EXPECT_THAT(broker_.ids, SizeIs(3));
}

TEST_F(SharedSubscribersTest, WhatIsAskedOfTheOneThatStandsByIsDoneByTheOneThatFollows) {
  put("0");
  broker_.refuses = true;
  run_all(*first_);
  EXPECT_EQ(run(*second_), Follower::Round::standing_by);
  std::vector<SetAside> aside = desk_.set_aside();
  ASSERT_THAT(aside, SizeIs(1));
  EXPECT_TRUE(second_->retry(aside[0]));
  desk_.time().advance(10s);
  run_all(*first_);
  EXPECT_THAT(desk_.set_aside(), SizeIs(1)) << "the receiver does not take it, still";
  broker_.refuses = false;
  desk_.time().advance(10s);
  run_all(*first_);
  EXPECT_THAT(broker_.ids, IsEmpty()) << "it was asked for once";
  EXPECT_TRUE(second_->retry(aside[0]));
  desk_.time().advance(10s);
  run_all(*first_);
  EXPECT_THAT(broker_.ids, SizeIs(1));
  EXPECT_THAT(desk_.set_aside(), IsEmpty());
  desk_.time().advance(16s);
  run_all(*second_);
  EXPECT_THAT(broker_.ids, SizeIs(1)) << "nor by the next that follows";
}

TEST_F(SharedSubscribersTest, TheOneThatFollowsNeedNotWaitForItsNextLook) {
  put("0");
  broker_.refuses = true;
  run_all(*first_);
  broker_.refuses = false;
  const std::vector<SetAside> aside = desk_.set_aside();
  ASSERT_THAT(aside, SizeIs(1));
  EXPECT_TRUE(first_->retry(aside[0]));
  run_all(*first_);
  EXPECT_THAT(broker_.ids, SizeIs(1));
  EXPECT_THAT(desk_.set_aside(), IsEmpty());
}

TEST_F(SharedSubscribersTest, NoMoreThanAHundredWaitToBeDeliveredAgain) {
  AskedAgain asked(store_, metrics_table, "subscriber#mine", desk_.retry());
  for (int i = 0; i < AskedAgain::most; ++i) ASSERT_TRUE(asked.ask("set-aside#subscriber#mine#" + std::to_string(i)));
  const auto refused = asked.ask("set-aside#subscriber#mine#x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::exhausted);
  EXPECT_TRUE(asked.take().has_value());
  EXPECT_TRUE(asked.ask("set-aside#subscriber#mine#x"));
}

TEST_F(SharedSubscribersTest, ACheckpointWhoseAnswerWasLostIsWrittenOnce) {
  put("0");
  run_all(*first_);
  put("1");
  store_.lose_answers(1, metrics_table);
  EXPECT_EQ(run(*first_), Follower::Round::handled);
  EXPECT_EQ(store_.answers_to_lose(), 0);
  EXPECT_THAT(broker_.ids, SizeIs(2));
}

}  // namespace
}  // namespace postino::metrics
