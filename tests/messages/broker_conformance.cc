#include "broker_conformance.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <future>
#include <limits>

#include "base/many_threads_testing.h"
#include "message_store.h"
#include "queue_contents.h"

namespace postino::messages {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BrokerConformance);

using broker::Disposition;
using broker::Format;
using broker::Message;
using broker::Messages;
using broker::ProduceOptions;
using broker::ProduceReport;
using broker::ReceiveOptions;
using broker::Scalar;
using broker::Scalars;
using broker::SendState;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

BrokerUnderTest::Queues BrokerConformance::queues_with(const Messages& messages) {
  BrokerUnderTest::Queues queues = subject_->fresh_queues();
  EXPECT_TRUE(is_complete(broker_->produce(queues.queue, messages, {})));
  return queues;
}

std::string BrokerConformance::queue_with(std::size_t count) { return queues_with(numbered(count)).queue; }

namespace {

constexpr seconds long_enough = base::test_patience;  // for what is known to come

TEST_P(BrokerConformance, KeepsTextJsonAndBytes) {
  const std::string queue = fresh_queue();
  const std::string bytes("\0\xFF\xFE binary \r\n", 12);
  ASSERT_TRUE(
      is_complete(broker_->produce(queue,
                                   Messages::of({{.id = "1", .body = "Grüße, 世界", .format = Format::text},
                                                 {.id = "2", .body = R"({"a":[1,2.5]})", .format = Format::json},
                                                 {.id = "3", .body = bytes, .format = Format::binary},
                                                 {.id = "4", .body = "", .format = Format::binary}}),
                                   {})));
  const auto messages = drain_queue(*other_, queue, 4);
  ASSERT_THAT(messages, SizeIs(4));
  EXPECT_EQ(messages[0].body, "Grüße, 世界");
  EXPECT_EQ(messages[0].format, Format::text);
  EXPECT_EQ(messages[0].content_type, "text/plain");
  EXPECT_EQ(messages[1].body, R"({"a":[1,2.5]})");
  EXPECT_EQ(messages[1].format, Format::json);
  EXPECT_EQ(messages[1].content_type, "application/json");
  EXPECT_EQ(messages[2].body, bytes);
  EXPECT_EQ(messages[2].format, Format::binary);
  EXPECT_EQ(messages[2].content_type, "application/octet-stream");
  EXPECT_EQ(messages[3].body, "");
}

TEST_P(BrokerConformance, KeepsEveryHeaderAndProperty) {
  Message message;
  message.id = "id-1";
  message.body = "x";
  message.correlation_id = "correlation-1";
  message.reply_to = "answers";
  message.content_type = "text/csv";
  message.created_at = base::from_epoch_milliseconds(1'800'000'000'123);
  message.headers = {{"durable", true},
                     {"priority", std::int64_t{7}},
                     {"ttl", std::int64_t{600'000}},
                     {"subject", "news"},
                     {"group-id", "group"},
                     {"group-sequence", std::int64_t{4'000'000'000}},
                     {"x-opt-text", "an annotation"}};
  message.properties = {{"text", "Ünïcode"},
                        {"smallest", std::numeric_limits<std::int64_t>::min()},
                        {"yes", true},
                        {"pi", 3.141592653589793}};
  Message expected = message;
  expected.headers["first-acquirer"] = true;
  expected.headers["delivery-count"] = std::int64_t{0};
  const std::string queue = fresh_queue();
  ASSERT_TRUE(is_complete(broker_->produce(queue, Messages::of({message}), {})));
  EXPECT_THAT(drain_queue(*other_, queue, 1), ElementsAre(expected));
}

TEST_P(BrokerConformance, TakesPersistenceAndTimeToLiveFromTheCallUnlessTheMessageHasItsOwn) {
  const std::string queue = fresh_queue();
  ASSERT_TRUE(is_complete(broker_->produce(
      queue,
      Messages::of({{.id = "1", .body = "x"},
                    {.id = "2", .body = "x", .headers = {{"durable", true}, {"ttl", std::int64_t{400'000}}}}}),
      {.persistent = false, .time_to_live = milliseconds(500'000)})));
  const auto messages = drain_queue(*other_, queue, 2);
  ASSERT_THAT(messages, SizeIs(2));
  EXPECT_EQ(messages[0].headers.at("durable"), Scalar(false));
  EXPECT_EQ(messages[0].headers.at("ttl"), Scalar(std::int64_t{500'000}));
  EXPECT_EQ(messages[1].headers.at("durable"), Scalar(true));
  EXPECT_EQ(messages[1].headers.at("ttl"), Scalar(std::int64_t{400'000}));
}

TEST_P(BrokerConformance, KeepsTheirOrder) {
  const std::string queue = fresh_queue();
  ASSERT_TRUE(is_complete(broker_->produce(queue, numbered(500), {.window = 50})));
  ASSERT_TRUE(is_complete(broker_->produce(queue, numbered(5, "late-"), {})));
  const auto messages = drain_queue(*other_, queue, 505);
  ASSERT_THAT(messages, SizeIs(505));
  for (std::size_t i = 0; i < 500; ++i) EXPECT_EQ(messages[i].id, "message-" + std::to_string(i));
  EXPECT_EQ(messages[504].id, "late-4");
}

TEST_P(BrokerConformance, TellsHowFarItHasComeWithinAWindow) {
  const std::string queue = fresh_queue();
  std::vector<std::size_t> prefixes;
  const ProduceReport report = broker_->produce(queue, numbered(1'000), {.window = 30}, [&](std::size_t prefix) {
    prefixes.push_back(prefix);
    return true;
  });
  ASSERT_TRUE(is_complete(report));
  EXPECT_EQ(report.confirmed, 1'000U);
  EXPECT_EQ(report.prefix, 1'000U);
  EXPECT_THAT(report.states, Each(SendState::confirmed));
  EXPECT_TRUE(std::ranges::is_sorted(prefixes));
  EXPECT_EQ(prefixes.back(), 1'000U);
  std::size_t before = 0;
  for (const std::size_t prefix : prefixes) EXPECT_LE(prefix - std::exchange(before, prefix), 30U);
  EXPECT_THAT(drain_queue(*other_, queue, 1'000), SizeIs(1'000));
}

TEST_P(BrokerConformance, BeginsWhereItIsTold) {
  const std::string queue = fresh_queue();
  const ProduceReport report = broker_->produce(queue, numbered(5), {.first = 3});
  ASSERT_TRUE(is_complete(report));
  EXPECT_EQ(report.confirmed, 5U);
  EXPECT_THAT(ids_of(drain_queue(*other_, queue, 2)), ElementsAre("message-3", "message-4"));
  EXPECT_TRUE(is_complete(broker_->produce(queue, numbered(5), {.first = 5})));
  EXPECT_TRUE(is_complete(broker_->produce(queue, {}, {})));
  EXPECT_THAT(drain_queue(*other_, queue), IsEmpty());
}

TEST_P(BrokerConformance, StopsWhenTheCallerWantsNoMore) {
  const std::string queue = fresh_queue();
  const ProduceReport report =
      broker_->produce(queue, numbered(5'000), {.window = 50}, [](std::size_t prefix) { return prefix < 100; });
  EXPECT_EQ(kind_of(report), "stopped");
  EXPECT_GE(report.prefix, 100U);
  EXPECT_LT(report.confirmed, 5'000U);
  EXPECT_EQ(std::ranges::count(report.states, SendState::in_doubt), 0);
  EXPECT_THAT(drain_queue(*other_, queue, report.confirmed), SizeIs(report.confirmed));
}

TEST_P(BrokerConformance, StopsAtAMessageThatBreaksARule) {
  const std::string queue = fresh_queue();
  Messages messages = numbered(10);
  messages.at = [at = messages.at](std::size_t position) {
    Message message = at(position);
    if (position == 6) message.headers["colour"] = "red";
    return message;
  };
  const ProduceReport report = broker_->produce(queue, messages, {});
  EXPECT_EQ(kind_of(report), "invalid");
  EXPECT_THAT(report.failure->message, HasSubstr("message 6: unknown header 'colour'; 6 of 10 messages are confirmed"));
  EXPECT_EQ(report.prefix, 6U);
  EXPECT_EQ(report.states[6], SendState::rejected);
  EXPECT_EQ(report.states[7], SendState::unsent);
  EXPECT_THAT(drain_queue(*other_, queue, 6), SizeIs(6));
}

TEST_P(BrokerConformance, RefusesMessagesThatBreakARule) {
  const std::string queue = fresh_queue();
  const std::pair<Message, std::string> cases[] = {
      {{.headers = {{"priority", std::int64_t{256}}}}, "priority must be an integer from 0 to 255"},
      {{.headers = {{"ttl", std::int64_t{0}}}}, "ttl must be an integer from 1"},
      {{.headers = {{"ttl", "soon"}}}, "ttl must be an integer from 1"},
      {{.id = std::string(256, 'x')}, "message id must not be longer than 255 bytes"},
      {{.body = "\xFF"}, "body must be UTF-8"},
      {{.properties = {{"", true}}}, "name of a property"},
  };
  for (const auto& [message, rule] : cases) {
    const ProduceReport report = broker_->produce(queue, Messages::of({message}), {});
    EXPECT_EQ(kind_of(report), "invalid") << rule;
    ASSERT_TRUE(report.failure);
    EXPECT_THAT(report.failure->message, HasSubstr(rule));
  }
  EXPECT_THAT(drain_queue(*other_, queue), IsEmpty());
}

TEST_P(BrokerConformance, RefusesOptionsAndNamesOutOfBounds) {
  const std::string queue = fresh_queue();
  for (const ProduceOptions& options :
       {ProduceOptions{.first = 2}, ProduceOptions{.window = 0}, ProduceOptions{.window = 1'000'000},
        ProduceOptions{.connections = 0}, ProduceOptions{.connections = 17}, ProduceOptions{.reconnects = -1},
        ProduceOptions{.delay = milliseconds(-1)}, ProduceOptions{.time_limit = milliseconds(0)}})
    EXPECT_EQ(kind_of(broker_->produce(queue, numbered(1), options)), "invalid");
  for (const ReceiveOptions& options :
       {ReceiveOptions{.max_messages = 0}, ReceiveOptions{.max_bytes = 0}, ReceiveOptions{.wait = milliseconds(-1)},
        ReceiveOptions{.wait = std::chrono::hours(25)}, ReceiveOptions{.linger = milliseconds(-1)}})
    EXPECT_EQ(kind_of(broker_->receive(queue, options)), "invalid");
  for (const std::string& name : {std::string(), std::string(256, 'x'), std::string("a\nb"), std::string("\xFF")}) {
    EXPECT_EQ(kind_of(broker_->produce(name, numbered(1), {})), "invalid");
    EXPECT_EQ(kind_of(broker_->receive(name, {})), "invalid");
  }
}

TEST_P(BrokerConformance, ReachesQueuesWithOddNames) {
  for (const char* const name :
       {"with spaces", "a/b/c", "/leading", "münchen-東京", "q?a=b#c&d", "\"quoted\\\"", "*"}) {
    SCOPED_TRACE(name);
    subject_->declare(name);
    ASSERT_TRUE(is_complete(broker_->produce(name, numbered(2), {})));
    EXPECT_THAT(ids_of(drain_queue(*other_, name, 2)), ElementsAre("message-0", "message-1"));
  }
}

TEST_P(BrokerConformance, HeldMessagesAreKeptFromOthersAndAcknowledgedOnesAreGone) {
  const std::string queue = queue_with(7);
  {
    const auto held = broker_->receive(queue, {.max_messages = 5, .wait = long_enough, .linger = long_enough});
    ASSERT_TRUE(succeeded(held));
    EXPECT_THAT(ids_of((*held)->messages()),
                ElementsAre("message-0", "message-1", "message-2", "message-3", "message-4"));
    EXPECT_THAT(ids_of(drain_queue(*other_, queue, 2)), ElementsAre("message-5", "message-6"));
    ASSERT_TRUE(succeeded((*held)->acknowledge()));
  }
  EXPECT_THAT(drain_queue(*other_, queue), IsEmpty());
}

TEST_P(BrokerConformance, TakesMoreThanItAsksForAtATime) {
  const std::string queue = queue_with(1'234);
  const auto held = broker_->receive(queue, {.max_messages = 1'234, .wait = long_enough, .linger = long_enough});
  ASSERT_TRUE(succeeded(held));
  EXPECT_THAT((*held)->messages(), SizeIs(1'234));
  ASSERT_TRUE(succeeded((*held)->acknowledge()));
  EXPECT_THAT(drain_queue(*other_, queue), IsEmpty());
}

TEST_P(BrokerConformance, ReleasedMessagesReturnToTheirPlace) {
  const std::string queue = queue_with(4);
  const auto held = broker_->receive(queue, {.max_messages = 3, .wait = long_enough, .linger = long_enough});
  ASSERT_TRUE(succeeded(held));
  ASSERT_TRUE(succeeded((*held)->release()));
  const auto again = drain_queue(*other_, queue, 4);
  EXPECT_THAT(ids_of(again), ElementsAre("message-0", "message-1", "message-2", "message-3"));
  EXPECT_EQ(again[0].headers.at("first-acquirer"), Scalar(false));
  EXPECT_EQ(again[3].headers.at("first-acquirer"), Scalar(true));
}

TEST_P(BrokerConformance, ForgottenMessagesReturnToTheQueue) {
  const std::string queue = queue_with(2);
  {
    const auto held = broker_->receive(queue, {.max_messages = 2, .wait = long_enough, .linger = long_enough});
    ASSERT_TRUE(succeeded(held));
    EXPECT_THAT((*held)->messages(), SizeIs(2));
  }
  const auto again = other_->receive(queue, {.max_messages = 2, .wait = long_enough, .linger = long_enough});
  ASSERT_TRUE(succeeded(again));
  EXPECT_THAT(ids_of((*again)->messages()), ElementsAre("message-0", "message-1"));
  EXPECT_TRUE(succeeded((*again)->acknowledge()));
}

TEST_P(BrokerConformance, SettlesEachMessageAsItIsTold) {
  const auto [queue, grave] = queues_with(numbered(4));
  const auto held = broker_->receive(queue, {.max_messages = 4, .wait = long_enough, .linger = long_enough});
  ASSERT_TRUE(succeeded(held));
  using enum Disposition;
  ASSERT_TRUE(succeeded((*held)->settle({acknowledge, release, reject, release})));
  EXPECT_THAT(ids_of(drain_queue(*other_, queue, 2)), ElementsAre("message-1", "message-3"));
  const auto dead = drain_queue(*other_, grave, 1);
  EXPECT_THAT(ids_of(dead), ElementsAre("message-2"));
  EXPECT_EQ(dead.front().body, "This is the message at position 2");
}

TEST_P(BrokerConformance, SettlesOnceAndForEachMessage) {
  const std::string queue = queue_with(2);
  const auto held = broker_->receive(queue, {.max_messages = 2, .wait = long_enough, .linger = long_enough});
  ASSERT_TRUE(succeeded(held));
  EXPECT_EQ(kind_of((*held)->settle({Disposition::acknowledge})), "invalid");
  EXPECT_TRUE(succeeded((*held)->acknowledge()));
  EXPECT_EQ(kind_of((*held)->acknowledge()), "invalid");
  EXPECT_THAT(drain_queue(*other_, queue), IsEmpty());
}

TEST_P(BrokerConformance, WaitsForTheFirstMessageAndGivesUpInTime) {
  const std::string queue = fresh_queue();
  const auto begin = steady_clock::now();
  const auto none = broker_->receive(queue, {.max_messages = 5, .wait = milliseconds(20)});
  ASSERT_TRUE(succeeded(none));
  EXPECT_THAT((*none)->messages(), IsEmpty());
  EXPECT_GE(steady_clock::now() - begin, milliseconds(20));

  auto call =
      std::async(std::launch::async, [&] { return broker_->receive(queue, {.max_messages = 1, .wait = long_enough}); });
  ASSERT_TRUE(is_complete(other_->produce(queue, numbered(1), {})));
  const auto held = call.get();
  ASSERT_TRUE(succeeded(held));
  EXPECT_THAT(ids_of((*held)->messages()), ElementsAre("message-0"));
  EXPECT_TRUE(succeeded((*held)->acknowledge()));
}

TEST_P(BrokerConformance, LingersForMore) {
  const std::string queue = queue_with(1);
  auto call = std::async(std::launch::async, [&] {
    return broker_->receive(queue, {.max_messages = 2, .wait = long_enough, .linger = long_enough});
  });
  // When another consumer finds nothing, the call has the first message.
  EXPECT_TRUE(base::eventually([&] { return has_nothing_to_give(*other_, queue); }));
  EXPECT_TRUE(is_complete(other_->produce(queue, numbered(1, "late-"), {})));
  const auto held = call.get();
  ASSERT_TRUE(succeeded(held));
  EXPECT_THAT(ids_of((*held)->messages()), ElementsAre("message-0", "late-0"));
  EXPECT_TRUE(succeeded((*held)->acknowledge()));
}

TEST_P(BrokerConformance, EndsEarlyWhenItHasEnoughBytes) {
  Messages messages = numbered(20);
  messages.at = [at = messages.at](std::size_t position) {
    Message message = at(position);
    message.body.resize(100'000, '.');
    return message;
  };
  const std::string queue = queues_with(messages).queue;
  const auto held =
      broker_->receive(queue, {.max_messages = 20, .max_bytes = 350'000, .wait = long_enough, .linger = long_enough});
  ASSERT_TRUE(succeeded(held));
  EXPECT_THAT((*held)->messages(), SizeIs(4));
  ASSERT_TRUE(succeeded((*held)->acknowledge()));
  EXPECT_THAT(drain_queue(*other_, queue, 16), SizeIs(16));
}

TEST_P(BrokerConformance, KeepsNoMoreThanItsCallerHasRoomFor) {
  const std::string queue = queue_with(5);
  std::size_t asked = 0;
  const auto room_for = [&](std::size_t most) {
    return [&asked, most](std::size_t bytes) {
      EXPECT_GT(bytes, 0U);
      return ++asked <= most;
    };
  };
  const auto none = broker_->receive(queue, {.max_messages = 5, .wait = long_enough, .room = room_for(0)});
  ASSERT_TRUE(succeeded(none));
  EXPECT_THAT((*none)->messages(), IsEmpty());
  EXPECT_EQ(asked, 1U) << "and it does not wait for more";
  asked = 0;
  const auto some =
      broker_->receive(queue, {.max_messages = 5, .wait = long_enough, .linger = long_enough, .room = room_for(2)});
  ASSERT_TRUE(succeeded(some));
  EXPECT_THAT((*some)->messages(), SizeIs(2));
  ASSERT_TRUE(succeeded((*some)->acknowledge()));
  EXPECT_THAT(drain_queue(*other_, queue, 3), SizeIs(3));
}

TEST_P(BrokerConformance, LosesAMessageWhoseTimeIsOver) {
  const std::string queue = fresh_queue();
  ASSERT_TRUE(is_complete(broker_->produce(queue, numbered(1), {.time_to_live = milliseconds(1)})));
  EXPECT_TRUE(base::eventually([&] { return is_empty(*other_, queue); }));
}

TEST_P(BrokerConformance, TellsWhoIsThere) {
  const auto identity = broker_->test();
  ASSERT_TRUE(succeeded(identity));
  EXPECT_NE(identity->product, "");
  EXPECT_NE(identity->endpoint, "");
}

}  // namespace
}  // namespace postino::messages
