// Executions whose process dies at each of their steps, and what the next call makes of it.
#include <gmock/gmock.h>

#include <map>

#include "service_environment.h"

namespace postino::messages {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ServiceCrashTest : public ::testing::Test {
 protected:
  // A service whose process dies when it reaches this step for the given time.
  std::unique_ptr<MessageService> dying_at(Step last, int time = 1) {
    return environment_.make_service([this, last, time, count = 0](Step step) mutable {
      if (step != last || ++count < time) return true;
      environment_.embedded().crash();
      return false;
    });
  }
  void put(std::size_t count, const std::string& prefix = "m") {
    ASSERT_TRUE(is_complete(environment_.embedded().produce("q", numbered(count, prefix), {}, nullptr)));
  }
  std::map<std::string, int> ids_in_queue() {
    std::map<std::string, int> counts;
    for (const std::string& id : ids_of(take_all(environment_.embedded(), "q"))) ++counts[id];
    return counts;
  }

  // Dies while it produces fifty messages, ten at a time, and calls again as soon as the key is free.
  struct Aftermath {
    std::string body;  // of the answer in the end
    std::size_t different = 0;
    std::size_t doubled = 0;
  };
  Aftermath die_while_producing(Step step, int time = 1) {
    const ProduceRequest request = produce_request("k", 50, 10);
    auto dying = dying_at(step, time);
    EXPECT_EQ(fault_of_answer(dying->produce(request, {})), "INTERNAL_ERROR");
    environment_.embedded().restart();
    dying.reset();
    const auto service = environment_.make_service();
    if (step != Step::completed) {
      EXPECT_EQ(fault_of_answer(service->produce(request, {})), "IN_PROGRESS");
      clock_->advance(std::chrono::milliseconds(29'999));
      EXPECT_EQ(fault_of_answer(service->produce(request, {})), "IN_PROGRESS");
      clock_->advance(std::chrono::milliseconds(1));
    }
    const auto reply = service->produce(request, {});
    EXPECT_TRUE(succeeded(reply));
    Aftermath aftermath{reply ? reply->body : ""};
    for (const auto& [id, count] : ids_in_queue()) {
      ++aftermath.different;
      aftermath.doubled += static_cast<std::size_t>(count - 1);
    }
    EXPECT_EQ(environment_.attribute("PRODUCE#k", "status"), "COMPLETED");
    return aftermath;
  }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  ServiceEnvironment environment_{clock_, {.queue = {.lease = seconds(20)}}};
};

TEST_F(ServiceCrashTest, DiesBeforeAnythingIsProduced) {
  const Aftermath aftermath = die_while_producing(Step::begun);
  EXPECT_EQ(aftermath.different, 50U);
  EXPECT_EQ(aftermath.doubled, 0U);
  EXPECT_THAT(aftermath.body, HasSubstr(R"("resumedFrom":0)"));
}

TEST_F(ServiceCrashTest, DiesInTheMiddleOfProducing) {
  const Aftermath aftermath = die_while_producing(Step::progressed, 3);
  EXPECT_EQ(aftermath.different, 50U);
  EXPECT_EQ(aftermath.doubled, 0U) << "what is confirmed is not sent again";
  EXPECT_THAT(aftermath.body, HasSubstr(R"("resumedFrom":30)"));
}

TEST_F(ServiceCrashTest, DiesWhenEverythingIsProduced) {
  const Aftermath aftermath = die_while_producing(Step::produced);
  EXPECT_EQ(aftermath.different, 50U);
  EXPECT_EQ(aftermath.doubled, 0U);
  EXPECT_THAT(aftermath.body, HasSubstr(R"("resumedFrom":50)"));
}

TEST_F(ServiceCrashTest, DiesBeforeItTellsThatEverythingIsProduced) {
  const Aftermath aftermath = die_while_producing(Step::completed);
  EXPECT_EQ(aftermath.different, 50U);
  EXPECT_EQ(aftermath.doubled, 0U);
  EXPECT_THAT(aftermath.body, HasSubstr(R"("resumedFrom":0)"));
}

TEST_F(ServiceCrashTest, WhatWasSentButNotRecordedIsSentAgainWithTheSameIds) {
  // All of it in one go: the record says nothing about it until the end.
  const ProduceRequest request = produce_request("k", 5, 10);
  auto dying = dying_at(Step::produced);
  EXPECT_FALSE(dying->produce(request, {}));
  environment_.embedded().restart();
  clock_->advance(seconds(30));
  const auto reply = environment_.make_service()->produce(request, {});
  ASSERT_TRUE(succeeded(reply));
  const auto ids = ids_in_queue();
  EXPECT_THAT(ids, SizeIs(5));
  for (const auto& [id, count] : ids) EXPECT_EQ(count, 2) << id;
}

TEST_F(ServiceCrashTest, ItMayDieAgainAndAgain) {
  const ProduceRequest request = produce_request("k", 50, 10);
  for (int life = 0; life < 4; ++life) {
    EXPECT_FALSE(dying_at(Step::progressed)->produce(request, {}));
    EXPECT_EQ(environment_.attribute("PRODUCE#k", "progress"), std::to_string(10 * (life + 1)));
    clock_->advance(seconds(30));
  }
  environment_.embedded().restart();
  ASSERT_TRUE(succeeded(environment_.make_service()->produce(request, {})));
  const auto ids = ids_in_queue();
  EXPECT_THAT(ids, SizeIs(50));
  for (const auto& [id, count] : ids) EXPECT_EQ(count, 1) << id;
}

TEST_F(ServiceCrashTest, DiesBeforeAnythingIsReceived) {
  put(3);
  EXPECT_FALSE(dying_at(Step::begun)->consume(consume_request("k", 2), {}));
  environment_.embedded().restart();
  const auto service = environment_.make_service();
  EXPECT_EQ(fault_of_answer(service->consume(consume_request("k", 2), {})), "IN_PROGRESS");
  clock_->advance(seconds(30));
  const auto reply = service->consume(consume_request("k", 2), {});
  ASSERT_TRUE(succeeded(reply));
  EXPECT_EQ(reply->processed, 2U);
  EXPECT_THAT(ids_in_queue(), ElementsAre(std::pair("m2", 1)));
}

TEST_F(ServiceCrashTest, DiesWithMessagesInItsHands) {
  put(3);
  EXPECT_FALSE(dying_at(Step::received)->consume(consume_request("k", 2), {}));
  environment_.embedded().restart();
  EXPECT_EQ(environment_.embedded().depth("q")->ready, 1U);
  clock_->advance(seconds(30));  // the leases of the messages end, and that of the execution
  const auto reply = environment_.make_service()->consume(consume_request("k", 2), {});
  ASSERT_TRUE(succeeded(reply));
  EXPECT_THAT(reply->body, HasSubstr(R"("messageId":"m0")"));
  EXPECT_THAT(reply->body, HasSubstr(R"("messageId":"m1")"));
  EXPECT_THAT(ids_in_queue(), ElementsAre(std::pair("m2", 1)));
}

TEST_F(ServiceCrashTest, DiesWhenTheAnswerIsStoredAndTheMessagesAreNotAcknowledged) {
  put(3);
  EXPECT_FALSE(dying_at(Step::completed)->consume(consume_request("k", 2), {}));
  environment_.embedded().restart();
  EXPECT_EQ(environment_.attribute("CONSUME#k", "status"), "COMPLETED");
  EXPECT_EQ(environment_.attribute("CONSUME#k", "progress"), "unsettled");
  const auto service = environment_.make_service();
  const auto early = service->consume(consume_request("k", 2), {});
  ASSERT_TRUE(succeeded(early));
  EXPECT_TRUE(early->replayed);
  EXPECT_EQ(environment_.attribute("CONSUME#k", "progress"), "unsettled") << "as long as the lease lasts";

  clock_->advance(seconds(30));
  EXPECT_EQ(environment_.embedded().depth("q")->ready, 3U) << "the broker would give them out again";
  const auto late = service->consume(consume_request("k", 2), {});
  ASSERT_TRUE(succeeded(late));
  EXPECT_TRUE(late->replayed);
  EXPECT_EQ(late->body, early->body);
  EXPECT_THAT(late->body, HasSubstr(R"("messageId":"m1")"));
  EXPECT_EQ(environment_.attribute("CONSUME#k", "progress"), "");
  EXPECT_EQ(environment_.attribute("CONSUME#k", "leaseOwner"), "");
  EXPECT_THAT(ids_in_queue(), ElementsAre(std::pair("m2", 1)));
}

TEST_F(ServiceCrashTest, DiesWhenTheMessagesAreAcknowledgedAndTheRecordDoesNotSaySo) {
  put(3);
  EXPECT_FALSE(dying_at(Step::settled)->consume(consume_request("k", 2), {}));
  environment_.embedded().restart();
  clock_->advance(seconds(30));
  const auto service = environment_.make_service();
  const auto reply = service->consume(consume_request("k", 2), {});
  ASSERT_TRUE(succeeded(reply));
  EXPECT_TRUE(reply->replayed);
  EXPECT_EQ(environment_.attribute("CONSUME#k", "progress"), "unsettled") << "they may come yet, for all it knows";
  clock_->advance(std::chrono::minutes(10));
  EXPECT_EQ(service->consume(consume_request("k", 2), {})->body, reply->body);
  EXPECT_EQ(environment_.attribute("CONSUME#k", "progress"), "");
  EXPECT_THAT(ids_in_queue(), ElementsAre(std::pair("m2", 1)));
}

TEST_F(ServiceCrashTest, WhatComesBackLateIsSettledByALaterCall) {
  put(2);
  EXPECT_FALSE(dying_at(Step::completed)->consume(consume_request("k", 2), {}));
  environment_.embedded().restart();
  clock_->advance(seconds(20));
  // Another consumer has one of them for now.
  const auto held = environment_.embedded().receive("q", {.max_messages = 1});
  ASSERT_THAT(ids_of((*held)->messages()), ElementsAre("m0"));
  clock_->advance(seconds(10));
  const auto service = environment_.make_service();
  ASSERT_TRUE(succeeded(service->consume(consume_request("k", 2), {})));
  EXPECT_EQ(environment_.attribute("CONSUME#k", "progress"), "unsettled");
  ASSERT_TRUE(succeeded((*held)->release()));
  ASSERT_TRUE(succeeded(service->consume(consume_request("k", 2), {})));
  EXPECT_THAT(ids_in_queue(), IsEmpty());
}

TEST_F(ServiceCrashTest, WhatComesAgainIsKnownByItsIdAndItsBody) {
  put(1);
  EXPECT_FALSE(dying_at(Step::completed)->consume(consume_request("k", 1), {}));
  environment_.embedded().restart();
  clock_->advance(seconds(30));
  // The same id, but another message, and one without any.
  ASSERT_TRUE(is_complete(environment_.embedded().produce(
      "q", broker::Messages::of({{.id = "m0", .body = "another"}, {.body = "This is the message at position 0"}}), {},
      nullptr)));
  ASSERT_TRUE(succeeded(environment_.make_service()->consume(consume_request("k", 1), {})));
  const auto left = take_all(environment_.embedded(), "q");
  ASSERT_THAT(left, SizeIs(2));
  EXPECT_EQ(left[0].body, "another");
}

TEST_F(ServiceCrashTest, WhenTheBrokerIsLostBeforeTheAcknowledgementTheAnswerStands) {
  put(1);
  auto service = environment_.make_service([this](Step step) {
    if (step == Step::completed) environment_.embedded().crash();
    return true;
  });
  const auto reply = service->consume(consume_request("k", 1), {});
  ASSERT_TRUE(succeeded(reply));
  EXPECT_THAT(reply->body, HasSubstr(R"("messageId":"m0")"));
  EXPECT_EQ(environment_.attribute("CONSUME#k", "progress"), "unsettled");
  environment_.embedded().restart();
  clock_->advance(seconds(30));
  ASSERT_TRUE(succeeded(service->consume(consume_request("k", 1), {})));
  EXPECT_THAT(ids_in_queue(), IsEmpty());
}

}  // namespace
}  // namespace postino::messages
