// What the broker has confirmed is there, whatever happens to it or to the connection.
#include <gmock/gmock.h>

#include <algorithm>
#include <future>
#include <map>
#include <thread>

#include "shared_server.h"

namespace postino::broker {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// How often each id is in the queue, which has at least so many messages. It is empty afterwards.
std::map<std::string, int> count_ids(const std::string& queue, std::size_t known) {
  std::map<std::string, int> counts;
  for (const std::string& id : ids_of(take_all(queue, known))) ++counts[id];
  return counts;
}

TEST(Produce, ConfirmsTenThousandMessagesWithinAWindow) {
  const std::string queue = fresh_queue();
  std::vector<std::size_t> prefixes;
  const ProduceReport report =
      shared_broker()->produce(queue, numbered(10'000), {.window = 200}, [&](std::size_t prefix) {
        prefixes.push_back(prefix);
        return true;
      });
  ASSERT_TRUE(is_complete(report));
  EXPECT_EQ(report.confirmed, 10'000U);
  EXPECT_EQ(report.prefix, 10'000U);
  EXPECT_THAT(report.states, Each(SendState::confirmed));
  EXPECT_TRUE(std::ranges::is_sorted(prefixes));
  EXPECT_EQ(std::ranges::adjacent_find(prefixes), prefixes.end());
  EXPECT_EQ(prefixes.back(), 10'000U);
  // The caller was never told more at once than may be on its way.
  std::size_t before = 0;
  for (const std::size_t prefix : prefixes) EXPECT_LE(prefix - std::exchange(before, prefix), 200U);
  const auto counts = count_ids(queue, 10'000);
  EXPECT_THAT(counts, SizeIs(10'000));
  for (const auto& [id, count] : counts) EXPECT_EQ(count, 1) << id;
}

TEST(Produce, SendsOverSeveralConnectionsAtOnce) {
  const std::string queue = fresh_queue();
  std::size_t last = 0;
  const ProduceReport report =
      shared_broker()->produce(queue, numbered(3'000), {.window = 100, .connections = 4}, [&](std::size_t prefix) {
        EXPECT_GT(prefix, last);
        last = prefix;
        return true;
      });
  ASSERT_TRUE(is_complete(report));
  EXPECT_EQ(last, 3'000U);
  EXPECT_THAT(count_ids(queue, 3'000), SizeIs(3'000));
}

TEST(Produce, BeginsWhereItIsTold) {
  const std::string queue = fresh_queue();
  const ProduceReport report = shared_broker()->produce(queue, numbered(5), {.first = 3});
  ASSERT_TRUE(is_complete(report));
  EXPECT_EQ(report.confirmed, 5U);
  EXPECT_THAT(ids_of(take_all(queue, 2)), ElementsAre("message-3", "message-4"));
  EXPECT_TRUE(is_complete(shared_broker()->produce(queue, numbered(5), {.first = 5})));
  EXPECT_TRUE(is_complete(shared_broker()->produce(queue, {}, {})));
  EXPECT_THAT(take_all(queue), IsEmpty());
}

TEST(Produce, StopsWhenTheCallerWantsNoMore) {
  const std::string queue = fresh_queue();
  const ProduceReport report =
      shared_broker()->produce(queue, numbered(5'000), {.window = 50}, [](std::size_t prefix) { return prefix < 100; });
  EXPECT_EQ(kind_of(report), "stopped");
  EXPECT_GE(report.prefix, 100U);
  EXPECT_LT(report.confirmed, 5'000U);
  // What was on its way was waited for: nothing is in doubt.
  EXPECT_EQ(std::ranges::count(report.states, SendState::in_doubt), 0);
  EXPECT_THAT(take_all(queue, report.confirmed), SizeIs(report.confirmed));
}

TEST(Produce, StopsAtAMessageThatBreaksARule) {
  const std::string queue = fresh_queue();
  Messages messages = numbered(10);
  messages.at = [at = messages.at](std::size_t position) {
    Message message = at(position);
    if (position == 6) message.headers["colour"] = "red";
    return message;
  };
  const ProduceReport report = shared_broker()->produce(queue, messages, {});
  EXPECT_EQ(kind_of(report), "invalid");
  EXPECT_THAT(report.failure->message, HasSubstr("message 6: unknown header 'colour'; 6 of 10 messages are confirmed"));
  EXPECT_EQ(report.prefix, 6U);
  EXPECT_EQ(report.states[6], SendState::rejected);
  EXPECT_EQ(report.states[7], SendState::unsent);
  EXPECT_THAT(take_all(queue, 6), SizeIs(6));
}

TEST(Produce, RefusesMessagesLargerThanTheLimit) {
  ConnectionSettings settings = plain_settings();
  settings.max_message_bytes = 10'000;
  const std::string queue = fresh_queue();
  const auto broker = broker_with(settings);
  EXPECT_TRUE(is_complete(broker->produce(queue, Messages::of({{.body = std::string(9'000, 'x')}}), {})));
  const ProduceReport report = broker->produce(queue, Messages::of({{.body = std::string(10'000, 'x')}}), {});
  EXPECT_EQ(kind_of(report), "invalid");
  EXPECT_THAT(report.failure->message, HasSubstr("at most 10000 are allowed"));
}

TEST(Produce, RefusesOptionsOutOfBounds) {
  const auto broker = shared_broker();
  const std::string queue = fresh_queue();
  for (const ProduceOptions& options :
       {ProduceOptions{.first = 2}, ProduceOptions{.window = 0}, ProduceOptions{.window = 1'000'000},
        ProduceOptions{.connections = 0}, ProduceOptions{.connections = 17}, ProduceOptions{.reconnects = -1},
        ProduceOptions{.delay = Milliseconds(-1)}, ProduceOptions{.time_limit = Milliseconds(0)}}) {
    const ProduceReport report = broker->produce(queue, numbered(1), options);
    EXPECT_EQ(kind_of(report), "invalid");
    EXPECT_FALSE(report.complete());
  }
  for (const std::string& name :
       {std::string(), std::string(256, 'x'), std::string("a\nb"), std::string("\xFF"), std::string("a%2Fb")})
    EXPECT_EQ(kind_of(broker->produce(name, numbered(1), {})), "invalid");
}

TEST(Produce, TellsThatThereIsNoSuchQueue) {
  const ProduceReport report = shared_broker()->produce("nowhere", numbered(3), {});
  EXPECT_EQ(kind_of(report), "no such queue");
  EXPECT_THAT(report.failure->message, HasSubstr("no queue 'nowhere' in vhost '/'"));
  EXPECT_THAT(report.states, Each(SendState::unsent));
}

TEST(Produce, NoticesThatItsQueueIsRemovedMeanwhile) {
  const std::string queue = fresh_queue();
  bool removed = false;
  const ProduceReport report =
      shared_broker()->produce(queue, numbered(2'000), {.window = 10, .reconnects = 0}, [&](std::size_t prefix) {
        if (prefix >= 100 && !std::exchange(removed, true)) rabbitmq().remove(queue);
        return true;
      });
  EXPECT_FALSE(report.complete());
  EXPECT_LT(report.confirmed, 2'000U);
}

// RabbitMQ says so by breaking the connection off after three seconds. It is not tried again and again.
TEST(Produce, TellsThatAFullQueueRejects) {
  const std::string queue = fresh_queue(R"("x-max-length":3,"x-overflow":"reject-publish")");
  ASSERT_TRUE(is_complete(shared_broker()->produce(queue, numbered(3), {})));
  const ProduceReport report = shared_broker()->produce(queue, numbered(2, "late-"), {});
  EXPECT_EQ(kind_of(report), "rejected");
  EXPECT_THAT(report.failure->message, HasSubstr("when the queue is full"));
  EXPECT_EQ(report.confirmed, 0U);
  EXPECT_EQ(report.sent_again, 0U);
  EXPECT_THAT(count_ids(queue, 3), SizeIs(3));
  EXPECT_TRUE(is_complete(shared_broker()->produce(queue, numbered(1, "later-"), {}))) << "there is room again";
}

TEST(Produce, SendsWhereItMayNotRead) {
  ASSERT_LT(rabbitmq().manage("PUT", "/api/users/writer", R"({"password":"secret","tags":""})"), 300);
  ASSERT_LT(rabbitmq().manage("PUT", "/api/permissions/%2F/writer", R"({"configure":"","write":".*","read":""})"), 300);
  ConnectionSettings settings = plain_settings();
  settings.user = "writer";
  settings.password = "secret";
  const std::string queue = fresh_queue();
  EXPECT_TRUE(is_complete(broker_with(settings)->produce(queue, numbered(3), {.reconnects = 0})));
  EXPECT_THAT(take_all(queue, 3), SizeIs(3));
  EXPECT_EQ(kind_of(broker_with(settings)->receive(queue, {})), "refused");
}

TEST(Produce, TellsThatItMayNotWrite) {
  ASSERT_LT(rabbitmq().manage("PUT", "/api/users/reader", R"({"password":"secret","tags":""})"), 300);
  ASSERT_LT(rabbitmq().manage("PUT", "/api/permissions/%2F/reader", R"({"configure":"","write":"","read":".*"})"), 300);
  ConnectionSettings settings = plain_settings();
  settings.user = "reader";
  settings.password = "secret";
  const ProduceReport report = broker_with(settings)->produce(fresh_queue(), numbered(3), {});
  EXPECT_EQ(kind_of(report), "refused");
  EXPECT_EQ(report.confirmed, 0U);
}

TEST(Produce, RefusesADelayThatTheBrokerCannotKeep) {
  const std::string queue = fresh_queue();
  const ProduceReport report = shared_broker()->produce(queue, numbered(1), {.delay = std::chrono::seconds(5)});
  EXPECT_EQ(kind_of(report), "unsupported");
  EXPECT_THAT(report.failure->message, HasSubstr("RabbitMQ cannot delay messages"));
  EXPECT_TRUE(is_complete(shared_broker()->produce(queue, numbered(1), {.delay = Milliseconds(0)})));
  EXPECT_THAT(take_all(queue, 1), SizeIs(1));
}

// Produces until this many are confirmed; then something happens to the broker, before the call goes on.
class Interruption {
 public:
  explicit Interruption(std::size_t after) : after_(after) {}

  OnConfirmed hook() {
    return [this](std::size_t prefix) {
      if (prefix >= after_ && !std::exchange(reached_, true)) {
        now_.set_value();
        over_.get_future().wait();
      }
      return true;
    };
  }
  // The call is over, perhaps too soon.
  void never_mind() {
    if (!std::exchange(reached_, true)) now_.set_value();
  }
  void await() { now_.get_future().wait(); }
  void end() { over_.set_value(); }

 private:
  const std::size_t after_;
  bool reached_ = false;
  std::promise<void> now_, over_;
};

constexpr std::size_t many = 6'000;

TEST(Produce, ConfirmedMessagesSurviveAStopAndAnotherCallGoesOn) {
  const std::string queue = fresh_queue();
  const auto broker = shared_broker();
  Interruption interruption(2'000);
  auto call = std::async(std::launch::async, [&] {
    auto report = broker->produce(queue, numbered(many), {.window = 100, .reconnects = 0}, interruption.hook());
    interruption.never_mind();
    return report;
  });
  interruption.await();
  rabbitmq().stop();
  interruption.end();
  const ProduceReport report = call.get();
  EXPECT_EQ(kind_of(report), "connection lost");
  EXPECT_THAT(report.failure->message, HasSubstr(std::to_string(report.confirmed) + " of 6000 messages are confirmed"));
  EXPECT_GE(report.prefix, 2'000U);
  EXPECT_LT(report.prefix, many);
  EXPECT_LE(std::ranges::count(report.states, SendState::in_doubt), 100);

  rabbitmq().restart();
  const ProduceReport rest = broker->produce(queue, numbered(many), {.first = report.prefix, .window = 100});
  ASSERT_TRUE(is_complete(rest));
  const auto counts = count_ids(queue, many);
  EXPECT_THAT(counts, SizeIs(many));
  for (std::size_t i = 0; i < many; ++i) {
    const int count = counts.contains("message-" + std::to_string(i)) ? counts.at("message-" + std::to_string(i)) : 0;
    EXPECT_EQ(count, report.states[i] == SendState::in_doubt ? std::clamp(count, 1, 2) : 1) << i;
  }
}

TEST(Produce, ConfirmedMessagesSurviveAKillAndTheCallGoesOnByItself) {
  const std::string queue = fresh_queue();
  const auto broker = shared_broker();
  Interruption interruption(2'000);
  auto call = std::async(std::launch::async, [&] {
    auto report = broker->produce(queue, numbered(many),
                                  {.window = 100,
                                   .reconnects = 5,
                                   .reconnect_time = std::chrono::minutes(4),
                                   .time_limit = std::chrono::minutes(8)},
                                  interruption.hook());
    interruption.never_mind();
    return report;
  });
  interruption.await();
  rabbitmq().kill();
  interruption.end();
  rabbitmq().restart();
  const ProduceReport report = call.get();
  ASSERT_TRUE(is_complete(report));
  // A window for each time that it may connect again: while the broker starts, that can be in vain.
  EXPECT_LE(report.sent_again, 500U);
  const auto counts = count_ids(queue, many);
  EXPECT_THAT(counts, SizeIs(many));
  std::size_t doubles = 0;
  for (const auto& [id, count] : counts) doubles += static_cast<std::size_t>(count - 1);
  EXPECT_LE(doubles, report.sent_again);
}

}  // namespace
}  // namespace postino::broker
