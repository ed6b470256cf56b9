// Queues, and executions that happen once, on a store that several processes share.
#include <gmock/gmock.h>

#include "base/check.h"
#include "service_environment.h"
#include "store/shared_store_testing.h"

namespace postino::messages {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class SharedQueueTest : public ::testing::Test {
 protected:
  std::unique_ptr<StoreQueue> make_queue(StoreQueueOptions options = {}) {
    return std::make_unique<StoreQueue>(store_, *clock_, embedded_.random(), embedded_.retry(), std::move(options));
  }
  std::uint64_t depth(broker::Broker& broker) { return broker.depth("q").value_or(broker::Depth{99}).ready; }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  MessageStore embedded_{clock_};
  store::SharedStore store_{embedded_.engine()};
};

TEST_F(SharedQueueTest, AMessageIsAddedTakenAndSettledOnceWhenAnswersAreLost) {
  const auto queue = make_queue();
  store_.lose_answers(2);
  ASSERT_TRUE(is_complete(queue->produce("q", numbered(3), {}, nullptr)));
  EXPECT_EQ(depth(*queue), 3U) << "counted once";
  store_.lose_answers(2);
  auto held = queue->receive("q", {.max_messages = 3});
  ASSERT_TRUE(succeeded(held));
  EXPECT_THAT((*held)->messages(), SizeIs(3)) << "none is leased to nobody";
  EXPECT_EQ(depth(*queue), 0U);
  store_.lose_answers(2);
  EXPECT_TRUE(succeeded((*held)->acknowledge()));
  EXPECT_EQ(embedded_.count_messages(), 0U);
  EXPECT_THAT(store_.tokens(), Not(Contains("")));
}

TEST_F(SharedQueueTest, EachTransactionHasATokenOfItsOwn) {
  const auto queue = make_queue();
  ASSERT_TRUE(is_complete(queue->produce("q", numbered(1), {}, nullptr)));
  store_.lose_answers(1);
  ASSERT_TRUE(is_complete(queue->produce("q", numbered(1, "other-"), {}, nullptr)));
  const std::vector<std::string> tokens = store_.tokens();
  ASSERT_THAT(tokens, SizeIs(3));
  EXPECT_NE(tokens[0], tokens[1]);
  EXPECT_EQ(tokens[1], tokens[2]) << "the attempts of one request";
}

TEST_F(SharedQueueTest, TheLeaseOfAProcessThatIsSetOtherwiseIsNotEnded) {
  const auto patient = make_queue({.lease = hours(6)});
  const auto hasty = make_queue({.lease = seconds(1)});
  ASSERT_TRUE(is_complete(patient->produce("q", numbered(1), {}, nullptr)));
  const auto held = patient->receive("q", {});
  ASSERT_TRUE(succeeded(held));
  ASSERT_THAT((*held)->messages(), SizeIs(1));
  clock_->advance(minutes(2));
  EXPECT_THAT(take_all(*hasty, "q"), IsEmpty());
  EXPECT_TRUE((*held)->are_kept());
  EXPECT_TRUE(succeeded((*held)->acknowledge()));
}

TEST_F(SharedQueueTest, AReceiverThatWasStoppedKnowsThatOthersMayHaveItsMessages) {
  const auto first = make_queue({.lease = seconds(20)});
  const auto second = make_queue({.lease = seconds(20)});
  ASSERT_TRUE(is_complete(first->produce("q", numbered(1), {}, nullptr)));
  const auto held = first->receive("q", {});
  ASSERT_TRUE(succeeded(held));
  EXPECT_TRUE((*held)->are_kept());
  clock_->advance(seconds(21));
  EXPECT_THAT(ids_of(take_all(*second, "q")), ElementsAre("message-0"));
  EXPECT_FALSE((*held)->are_kept());
  EXPECT_EQ(kind_of((*held)->acknowledge()), "connection lost");
}

// Processes with clocks of their own that differ by a minute, and one that they share.
class SharedServiceTest : public SharedQueueTest {
 protected:
  struct Process {
    std::shared_ptr<StoreQueue> queue;
    std::unique_ptr<Connections> connections;
    std::unique_ptr<MessageService> service;
  };

  Process make_process(const base::Clock& own, std::function<bool(Step)> on_step = nullptr) {
    Process process;
    process.queue = make_queue({.lease = seconds(20)});
    auto connections = Connections::create({}, process.queue);
    CHECK(connections.has_value());
    process.connections = *std::move(connections);
    ServiceOptions options;
    options.guard.shared_clock = clock_;
    options.on_step = std::move(on_step);
    process.service = std::make_unique<MessageService>(store_, *process.connections, own, embedded_.random(),
                                                       embedded_.retry(), std::move(options));
    CHECK(process.service->prepare().has_value());
    return process;
  }
  std::vector<std::string> ids_in_queue() { return ids_of(take_all(*make_queue(), "q")); }

  const base::ManualClock ahead_{test_start + seconds(60)};
};

TEST_F(SharedServiceTest, ProducesAndConsumesOnceWhicheverAnswersAreLost) {
  constexpr int most_writes = 8;
  const Process process = make_process(*clock_);
  int lost = 0;
  for (int before = 0; before < most_writes; ++before)
    for (const int count : {1, 3}) {
      const std::string key = "k" + std::to_string(before) + "-" + std::to_string(count);
      store_.lose_answers(count, "", before);
      EXPECT_TRUE(succeeded(process.service->produce(produce_request(key, 20, 10), {}))) << key;
      lost += store_.answers_to_lose() == 0 ? 1 : 0;
      store_.lose_answers(count, "", before);
      const auto consumed = process.service->consume(consume_request(key, 50), {});
      ASSERT_TRUE(succeeded(consumed)) << key;
      EXPECT_EQ(consumed->processed, 20U) << key;
      lost += store_.answers_to_lose() == 0 ? 1 : 0;
      store_.lose_answers(0);
      EXPECT_EQ(embedded_.count_messages(), 0U) << key;
    }
  EXPECT_GT(lost, most_writes);
}

TEST_F(SharedServiceTest, ALeaseIsNotOverBecauseAClockIsAhead) {
  const ProduceRequest request = produce_request("k", 2);
  std::string other;
  const Process second = make_process(ahead_);
  const Process first = make_process(*clock_, [&](Step step) {
    if (step == Step::begun) other = fault_of_answer(second.service->produce(request, {}));
    return true;
  });
  EXPECT_TRUE(succeeded(first.service->produce(request, {})));
  EXPECT_EQ(other, "IN_PROGRESS");
  EXPECT_THAT(ids_in_queue(), SizeIs(2));
}

TEST_F(SharedServiceTest, AProcessThatWasStoppedForLongerThanItsLeaseProducesNothingMore) {
  const ProduceRequest request = produce_request("k", 20, 10);
  const Process second = make_process(ahead_);
  for (const Step stopped_at : {Step::begun, Step::progressed}) {
    bool has_stopped = false;
    const Process first = make_process(*clock_, [&](Step step) {
      if (step != stopped_at || std::exchange(has_stopped, true)) return true;
      clock_->advance(seconds(31));
      EXPECT_TRUE(succeeded(second.service->produce(request, {})));
      return true;
    });
    EXPECT_EQ(fault_of_answer(first.service->produce(request, {})), "IN_PROGRESS");
    EXPECT_THAT(ids_in_queue(), SizeIs(20)) << "each once";
    clock_->advance(hours(25));
  }
}

TEST_F(SharedServiceTest, AProcessThatWasStoppedDoesNotAnswerWithMessagesThatOthersHaveByNow) {
  ASSERT_TRUE(is_complete(make_queue()->produce("q", numbered(1), {}, nullptr)));
  const Process second = make_process(ahead_);
  std::size_t taken = 0;
  const Process first = make_process(*clock_, [&](Step step) {
    if (step != Step::received) return true;
    clock_->advance(seconds(21));  // longer than the lease of the messages, not of the execution
    const auto consumed = second.service->consume(consume_request("other", 5), {});
    EXPECT_TRUE(succeeded(consumed));
    taken = consumed ? consumed->processed : 0;
    return true;
  });
  EXPECT_EQ(fault_of_answer(first.service->consume(consume_request("k", 5), {})), "BROKER_FAILED");
  EXPECT_EQ(taken, 1U);
  const auto again = first.service->consume(consume_request("k", 5), {});
  ASSERT_TRUE(succeeded(again));
  EXPECT_EQ(again->processed, 0U);
}

TEST_F(SharedServiceTest, AProcessThatWasStoppedBeforeItReceivedTakesNothing) {
  ASSERT_TRUE(is_complete(make_queue()->produce("q", numbered(2), {}, nullptr)));
  const Process second = make_process(ahead_);
  bool has_stopped = false;
  const Process first = make_process(*clock_, [&](Step step) {
    if (step != Step::begun || std::exchange(has_stopped, true)) return true;
    clock_->advance(seconds(31));
    EXPECT_TRUE(succeeded(second.service->consume(consume_request("k", 1), {})));
    return true;
  });
  EXPECT_EQ(fault_of_answer(first.service->consume(consume_request("k", 1), {})), "IN_PROGRESS");
  EXPECT_THAT(ids_in_queue(), ElementsAre("message-1"));
}

}  // namespace
}  // namespace postino::messages
