// Brokers other than RabbitMQ, and those that misbehave.
#include "scripted_peer.h"

#include <gmock/gmock.h>

#include "base/many_threads_testing.h"
#include "shared_server.h"

namespace postino::broker {
namespace {

using std::chrono::steady_clock;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Reply = ScriptedPeer::Reply;

TEST(OtherBroker, GetsBareAddresses) {
  const ScriptedPeer peer({.product = "qpid"});
  ConnectionSettings settings = peer.settings();
  ASSERT_TRUE(is_complete(broker_with(settings)->produce("a/b", numbered(1), {})));
  settings.address_style = AddressStyle::bare;
  settings.address_prefix = "queue://";
  ASSERT_TRUE(is_complete(broker_with(settings)->produce("a/b", numbered(1), {})));
  settings.address_prefix = "";
  settings.address_style = AddressStyle::rabbitmq_4;
  ASSERT_TRUE(is_complete(broker_with(settings)->produce("a/b ü", numbered(1), {})));
  EXPECT_THAT(peer.addresses(), ElementsAre("a/b", "queue://a/b", "/queues/a%2Fb%20%C3%BC"));
}

TEST(OtherBroker, DelaysMessagesWhenItOffersTo) {
  const ScriptedPeer peer({.capabilities = {"ANONYMOUS-RELAY", "DELAYED_DELIVERY"}});
  const auto report = broker_with(peer.settings())->produce("q", numbered(1), {.delay = std::chrono::seconds(90)});
  ASSERT_TRUE(is_complete(report));
  ASSERT_THAT(peer.messages(), SizeIs(1));
  EXPECT_EQ(peer.messages()[0].headers.at("x-opt-delivery-delay"), Scalar(std::int64_t{90'000}));
}

TEST(OtherBroker, IsNotAskedToDelayWhenItDoesNotOfferTo) {
  const ScriptedPeer peer({});
  const auto report = broker_with(peer.settings())->produce("q", numbered(1), {.delay = std::chrono::seconds(90)});
  EXPECT_EQ(kind_of(report), "unsupported");
  EXPECT_THAT(peer.messages(), SizeIs(0));
}

TEST(OtherBroker, RejectsAMessage) {
  for (const Reply reply : {Reply::reject, Reply::release}) {
    const ScriptedPeer peer({.reply = [=](std::size_t number) { return number == 3 ? reply : Reply::accept; }});
    const auto report = broker_with(peer.settings())->produce("q", numbered(100), {.window = 2});
    EXPECT_EQ(kind_of(report), "rejected");
    EXPECT_THAT(report.failure->message, HasSubstr("message 3: the broker"));
    EXPECT_EQ(report.prefix, 3U);
    EXPECT_EQ(report.states[3], SendState::rejected);
    EXPECT_EQ(std::ranges::count(report.states, SendState::in_doubt), 0);
    EXPECT_FALSE(report.failure->is_temporary());
  }
}

TEST(OtherBroker, IsWaitedForNoLongerThanTheTimeLimit) {
  const ScriptedPeer peer({.reply = [](std::size_t number) { return number < 2 ? Reply::accept : Reply::silence; }});
  ConnectionSettings settings = peer.settings();
  EXPECT_TRUE(base::with_enough_time([&](Milliseconds limit) {
    settings.answer_timeout = limit;
    const auto report = broker_with(settings)->produce("q", numbered(5), {});
    if (report.prefix < 2 || report.states.back() == SendState::unsent) return false;
    EXPECT_EQ(kind_of(report), "timed out");
    EXPECT_EQ(report.prefix, 2U);
    EXPECT_THAT(report.states, ElementsAre(SendState::confirmed, SendState::confirmed, SendState::in_doubt,
                                           SendState::in_doubt, SendState::in_doubt));
    return true;
  }));
  // This call would not end in the time that a test may take, if it were not for its own limit.
  settings.answer_timeout = std::chrono::hours(1);
  EXPECT_EQ(kind_of(broker_with(settings)->produce("q", numbered(5), {.time_limit = Milliseconds(50)})), "timed out");
}

TEST(OtherBroker, EndsTheCallAtTheTimeLimitAlthoughItConfirms) {
  const ScriptedPeer peer({});
  EXPECT_TRUE(base::with_enough_time([&](Milliseconds limit) {
    const auto report =
        broker_with(peer.settings())->produce("q", numbered(5'000'000), {.window = 5, .time_limit = limit});
    if (report.confirmed == 0) return false;
    EXPECT_EQ(kind_of(report), "timed out");
    EXPECT_LT(report.confirmed, 5'000'000U);
    return true;
  }));
}

TEST(OtherBroker, TellsHowLargeMessagesMayBe) {
  const ScriptedPeer peer({.max_message_size = 5'000});
  const auto broker = broker_with(peer.settings());
  EXPECT_TRUE(is_complete(broker->produce("q", Messages::of({{.body = std::string(4'000, 'x')}}), {})));
  const auto report = broker->produce("q", Messages::of({{.body = std::string(5'000, 'x')}}), {});
  EXPECT_EQ(kind_of(report), "invalid");
  EXPECT_THAT(report.failure->message, HasSubstr("at most 5000 are allowed"));
}

TEST(OtherBroker, ThatBreaksOffIsConnectedToAgain) {
  const ScriptedPeer peer(
      {.reply = [](std::size_t number) { return number == 10 || number == 30 ? Reply::disconnect : Reply::accept; }});
  const auto broker = broker_with(peer.settings());
  const auto report = broker->produce("q", numbered(50), {.window = 4, .reconnects = 2});
  ASSERT_TRUE(is_complete(report));
  EXPECT_GE(report.sent_again, 2U);
  EXPECT_LE(report.sent_again, 8U);
}

TEST(OtherBroker, ThatBreaksOffTooOftenIsLost) {
  const ScriptedPeer peer({.reply = [](std::size_t number) { return number < 7 ? Reply::accept : Reply::disconnect; }});
  const auto report = broker_with(peer.settings())->produce("q", numbered(50), {.window = 1, .reconnects = 2});
  EXPECT_EQ(kind_of(report), "connection lost");
  EXPECT_THAT(report.failure->message, HasSubstr("enough (amqp:connection:forced); 7 of 50 messages are confirmed"));
  EXPECT_EQ(report.prefix, 7U);
  EXPECT_EQ(peer.messages().size(), 7U + 3U);
}

TEST(OtherBroker, RefusesALink) {
  const ScriptedPeer peer({.refuses_links = true});
  const auto report = broker_with(peer.settings())->produce("q", numbered(1), {});
  EXPECT_EQ(kind_of(report), "no such queue");
  EXPECT_THAT(report.failure->message, HasSubstr("there is nothing here (amqp:not-found)"));
}

TEST(OtherBroker, ThatAnswersNothingIsUnreachable) {
  const ScriptedPeer peer({.answers_nothing = true});
  ConnectionSettings settings = peer.settings();
  settings.connect_timeout = Milliseconds(50);
  EXPECT_EQ(kind_of(broker_with(settings)->test()), "unreachable");
}

std::vector<Message> list_of(std::size_t count) {
  std::vector<Message> list;
  for (std::size_t i = 0; i < count; ++i) list.push_back(numbered(count).at(i));
  return list;
}

TEST(OtherBroker, GivesOutWhatItHas) {
  const ScriptedPeer peer({.queue = list_of(3)});
  const auto broker = broker_with(peer.settings());
  const auto held = broker->receive("q", {.max_messages = 10});
  ASSERT_TRUE(succeeded(held));
  EXPECT_THAT(ids_of((*held)->messages()), ElementsAre("message-0", "message-1", "message-2"));
  using enum Disposition;
  ASSERT_TRUE(succeeded((*held)->settle({acknowledge, release, reject})));
  EXPECT_EQ(peer.outcomes(), (ScriptedPeer::Outcomes{1, 1, 1}));
  const auto begin = steady_clock::now();
  const auto empty = broker->receive("q", {.max_messages = 10, .wait = Milliseconds(20)});
  ASSERT_TRUE(succeeded(empty));
  EXPECT_THAT((*empty)->messages(), SizeIs(0));
  EXPECT_GE(steady_clock::now() - begin, Milliseconds(20));
}

TEST(OtherBroker, GivesOutMoreThanItIsAskedForAtATime) {
  const ScriptedPeer peer({.queue = list_of(2'345)});
  const auto held = broker_with(peer.settings())->receive("q", {.max_messages = 5'000});
  ASSERT_TRUE(succeeded(held));
  EXPECT_THAT((*held)->messages(), SizeIs(2'345));
  ASSERT_TRUE(succeeded((*held)->acknowledge()));
  EXPECT_EQ(peer.outcomes(), (ScriptedPeer::Outcomes{2'345, 0, 0}));
}

TEST(OtherBroker, GivesOutNoMoreThanItIsAskedFor) {
  const ScriptedPeer peer({.queue = list_of(1'000)});
  const auto held =
      broker_with(peer.settings())->receive("q", {.max_messages = 777, .linger = std::chrono::minutes(1)});
  ASSERT_TRUE(succeeded(held));
  EXPECT_THAT((*held)->messages(), SizeIs(777));
  ASSERT_TRUE(succeeded((*held)->release()));
  EXPECT_EQ(peer.outcomes(), (ScriptedPeer::Outcomes{0, 777, 0}));
}

TEST(OtherBroker, ThatKeepsCreditIsGivenUp) {
  const ScriptedPeer peer({.queue = list_of(1), .drains = false});
  ConnectionSettings settings = peer.settings();
  settings.answer_timeout = Milliseconds(50);
  EXPECT_EQ(kind_of(broker_with(settings)->receive("q", {.max_messages = 2})), "timed out");
}

TEST(OtherBroker, DoesNotTellDepths) {
  const ScriptedPeer peer({});
  EXPECT_EQ(kind_of(broker_with(peer.settings())->depth("q")), "unsupported");
}

}  // namespace
}  // namespace postino::broker
