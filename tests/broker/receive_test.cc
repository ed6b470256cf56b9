// Messages are kept from others while they are held, and are gone only when they are acknowledged.
#include <gmock/gmock.h>

#include <future>

#include "base/many_threads_testing.h"
#include "queue_contents.h"
#include "shared_server.h"

namespace postino::broker {
namespace {

using std::chrono::steady_clock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string queue_with(std::size_t count, std::string_view arguments = "") {
  const std::string queue = fresh_queue(arguments);
  EXPECT_TRUE(is_complete(shared_broker()->produce(queue, numbered(count), {})));
  return queue;
}

TEST(Receive, WaitsForTheFirstMessageAndGivesUpInTime) {
  const std::string queue = fresh_queue();
  const auto begin = steady_clock::now();
  const auto held = shared_broker()->receive(queue, {.max_messages = 5, .wait = Milliseconds(20)});
  ASSERT_TRUE(succeeded(held));
  EXPECT_THAT((*held)->messages(), IsEmpty());
  EXPECT_GE(steady_clock::now() - begin, Milliseconds(20));
  EXPECT_TRUE(succeeded(shared_broker()->receive(queue, {})));
}

TEST(Receive, TakesWhatIsThereUpToTheLimit) {
  const std::string queue = queue_with(7);
  const auto broker = shared_broker();
  {
    const auto held = broker->receive(queue, at_least(5));
    ASSERT_TRUE(succeeded(held));
    EXPECT_THAT(ids_of((*held)->messages()),
                ElementsAre("message-0", "message-1", "message-2", "message-3", "message-4"));
    // Other consumers do not get those that are held.
    EXPECT_THAT(ids_of(take_all(queue, 2)), ElementsAre("message-5", "message-6"));
    ASSERT_TRUE(succeeded((*held)->acknowledge()));
  }
  EXPECT_THAT(take_all(queue), IsEmpty());
}

TEST(Receive, TakesMoreThanItAsksForAtATime) {
  const std::string queue = queue_with(2'345);
  const auto held = shared_broker()->receive(queue, at_least(2'345));
  ASSERT_TRUE(succeeded(held));
  EXPECT_THAT((*held)->messages(), SizeIs(2'345));
  ASSERT_TRUE(succeeded((*held)->acknowledge()));
  EXPECT_THAT(take_all(queue), IsEmpty());
}

TEST(Receive, LingersForMore) {
  const std::string queue = queue_with(1);
  const auto broker = shared_broker();
  auto call = std::async(std::launch::async, [&] { return broker->receive(queue, at_least(2)); });
  // When another consumer finds nothing, the call has the first message.
  const auto other = other_broker();
  EXPECT_TRUE(base::eventually([&] { return has_nothing_to_give(*other, queue); }));
  EXPECT_TRUE(is_complete(broker->produce(queue, numbered(1, "late-"), {})));
  const auto held = call.get();
  ASSERT_TRUE(succeeded(held));
  EXPECT_THAT(ids_of((*held)->messages()), ElementsAre("message-0", "late-0"));
  EXPECT_TRUE(succeeded((*held)->acknowledge()));
}

TEST(Receive, AcknowledgedMessagesAreGoneForGood) {
  const std::string queue = queue_with(3);
  {
    const auto held = shared_broker()->receive(queue, at_least(3));
    ASSERT_TRUE(succeeded(held));
    ASSERT_TRUE(succeeded((*held)->acknowledge()));
  }
  EXPECT_THAT(take_all(queue), IsEmpty());
  rabbitmq().restart();
  EXPECT_THAT(take_all(queue), IsEmpty());
}

TEST(Receive, ReleasedMessagesReturnToTheQueue) {
  const std::string queue = queue_with(3);
  const auto broker = shared_broker();
  const auto held = broker->receive(queue, at_least(3));
  ASSERT_TRUE(succeeded(held));
  ASSERT_TRUE(succeeded((*held)->release()));
  const auto again = take_all(queue, 3);
  EXPECT_THAT(ids_of(again), ElementsAre("message-0", "message-1", "message-2"));
  EXPECT_EQ(again.front().headers.at("first-acquirer"), Scalar(false));
}

TEST(Receive, SettlesEachMessageAsItIsTold) {
  const std::string grave = fresh_queue();
  const std::string queue =
      queue_with(4, R"("x-dead-letter-exchange":"","x-dead-letter-routing-key":")" + grave + "\"");
  const auto held = shared_broker()->receive(queue, at_least(4));
  ASSERT_TRUE(succeeded(held));
  using enum Disposition;
  ASSERT_TRUE(succeeded((*held)->settle({acknowledge, release, reject, release})));
  EXPECT_THAT(ids_of(take_all(queue, 2)), ElementsAre("message-1", "message-3"));
  EXPECT_THAT(ids_of(take_all(grave, 1)), ElementsAre("message-2"));
}

TEST(Receive, ForgottenMessagesReturnToTheQueue) {
  const std::string queue = queue_with(2);
  {
    const auto held = shared_broker()->receive(queue, at_least(2));
    ASSERT_TRUE(succeeded(held));
    EXPECT_THAT((*held)->messages(), SizeIs(2));
  }
  // The broker takes note of it when the connection is closed, a moment later.
  const auto again = shared_broker()->receive(queue, at_least(2));
  ASSERT_TRUE(succeeded(again));
  EXPECT_THAT(ids_of((*again)->messages()), ElementsAre("message-0", "message-1"));
  EXPECT_TRUE(succeeded((*again)->acknowledge()));
}

// What one call asks for and does not take must be there for the next.
TEST(Receive, TakesTheRestInTheNextCall) {
  const auto broker = shared_broker();
  for (int i = 0; i < 20; ++i) {
    const std::string queue = queue_with(50);
    const auto first = broker->receive(queue, at_least(20));
    ASSERT_TRUE(succeeded(first));
    ASSERT_THAT((*first)->messages(), SizeIs(20));
    ASSERT_TRUE(succeeded((*first)->acknowledge()));
    const auto rest = take_all(queue, 30);
    ASSERT_THAT(rest, SizeIs(30));
    EXPECT_EQ(rest.front().id, "message-20");
  }
}

TEST(Receive, SettlesOnceAndForEachMessage) {
  const std::string queue = queue_with(2);
  const auto held = shared_broker()->receive(queue, at_least(2));
  ASSERT_TRUE(succeeded(held));
  EXPECT_EQ(kind_of((*held)->settle({Disposition::acknowledge})), "invalid");
  EXPECT_TRUE(succeeded((*held)->acknowledge()));
  EXPECT_EQ(kind_of((*held)->acknowledge()), "invalid");
  EXPECT_THAT(take_all(queue), IsEmpty());
}

TEST(Receive, TellsWhenTheBrokerIsLostBeforeTheAcknowledgement) {
  const std::string queue = queue_with(2);
  const auto held = shared_broker()->receive(queue, at_least(2));
  ASSERT_TRUE(succeeded(held));
  rabbitmq().kill();
  EXPECT_EQ(kind_of((*held)->acknowledge()), "connection lost");
  rabbitmq().restart();
  EXPECT_THAT(take_all(queue, 2), SizeIs(2));
}

TEST(Receive, EndsEarlyWhenItHasEnoughBytes) {
  const std::string queue = fresh_queue();
  const auto broker = shared_broker();
  Messages messages = numbered(40);
  messages.at = [at = messages.at](std::size_t position) {
    Message message = at(position);
    message.body.resize(100'000, '.');
    return message;
  };
  ASSERT_TRUE(is_complete(broker->produce(queue, messages, {})));
  const auto held = broker->receive(
      queue, {.max_messages = 40, .max_bytes = 350'000, .wait = base::test_patience, .linger = base::test_patience});
  ASSERT_TRUE(succeeded(held));
  EXPECT_THAT((*held)->messages(), SizeIs(4));
  ASSERT_TRUE(succeeded((*held)->acknowledge()));
  EXPECT_THAT(take_all(queue, 36), SizeIs(36));
}

TEST(Receive, TellsOfMessagesThatAreTooLarge) {
  const std::string queue = fresh_queue();
  ASSERT_TRUE(is_complete(shared_broker()->produce(
      queue, Messages::of({{.id = "1", .body = std::string(600'000, 'x')}, {.id = "2", .body = "small"}}), {})));
  ConnectionSettings settings = plain_settings();
  settings.max_message_bytes = 10'000;
  const auto held = broker_with(settings)->receive(queue, at_least(2));
  ASSERT_TRUE(succeeded(held));
  ASSERT_THAT((*held)->messages(), SizeIs(2));
  EXPECT_THAT((*held)->messages()[0].fault, HasSubstr("too large to be read: 600"));
  EXPECT_EQ((*held)->messages()[0].body, "");
  EXPECT_EQ((*held)->messages()[1].body, "small");
  ASSERT_TRUE(succeeded((*held)->settle({Disposition::release, Disposition::acknowledge})));
  EXPECT_THAT(ids_of(take_all(queue, 1)), ElementsAre("1"));
}

TEST(Receive, TellsThatThereIsNoSuchQueue) {
  const auto held = shared_broker()->receive("nowhere", {});
  EXPECT_EQ(kind_of(held), "no such queue");
  EXPECT_THAT(held.error().message, HasSubstr("no queue 'nowhere' in vhost '/'"));
}

TEST(Receive, RefusesOptionsOutOfBounds) {
  const auto broker = shared_broker();
  for (const ReceiveOptions& options :
       {ReceiveOptions{.max_messages = 0}, ReceiveOptions{.max_bytes = 0}, ReceiveOptions{.wait = Milliseconds(-1)},
        ReceiveOptions{.wait = std::chrono::hours(25)}, ReceiveOptions{.linger = Milliseconds(-1)}})
    EXPECT_EQ(kind_of(broker->receive("queue", options)), "invalid");
}

}  // namespace
}  // namespace postino::broker
