// Queues in the store: the contract of all brokers, and what is their own.
#include "messages/store_queue.h"

#include <gmock/gmock.h>

#include "base/hash.h"
#include "broker_conformance.h"
#include "item/json_codec.h"
#include "message_store.h"
#include "messages/queue_count_check.h"
#include "messages/queue_table.h"

namespace postino::messages {
namespace {

using broker::Disposition;
using broker::Message;
using broker::Messages;
using broker::Scalar;
using broker::SendState;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StoreUnderTest final : public BrokerUnderTest {
 public:
  std::unique_ptr<broker::Broker> connect() override { return store_.make_queue({.poll = milliseconds(20)}); }
  Queues fresh_queues() override { return {"queue", "queue.dead"}; }
  void declare(const std::string&) override {}  // they are there when they are used

 private:
  MessageStore store_{std::make_shared<base::SystemClock>()};
};

INSTANTIATE_TEST_SUITE_P(Store, BrokerConformance,
                         ::testing::Values(BrokerChoice{"Store", [] { return std::make_unique<StoreUnderTest>(); }}),
                         name_of_choice);

class StoreQueueTest : public ::testing::Test {
 protected:
  void produce(std::size_t count, const broker::ProduceOptions& options = {}, const std::string& prefix = "m") {
    ASSERT_TRUE(is_complete(queue_->produce("q", numbered(count, prefix), options, nullptr)));
  }
  std::unique_ptr<broker::Held> receive(StoreQueue& queue, std::size_t count) {
    auto held = queue.receive("q", {.max_messages = count});
    EXPECT_TRUE(succeeded(held));
    return *std::move(held);
  }
  std::uint64_t depth(const std::string& name = "q") {
    const auto depth = queue_->depth(name);
    EXPECT_TRUE(succeeded(depth));
    return depth ? depth->ready : 0;
  }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  MessageStore store_{clock_};
  const std::unique_ptr<StoreQueue> queue_ = store_.make_queue({.lease = seconds(60)});
  const std::unique_ptr<StoreQueue> other_ = store_.make_queue({.lease = seconds(60)});
};

TEST_F(StoreQueueTest, AMessageHasItsPublicForm) {
  ASSERT_TRUE(is_complete(queue_->produce("q", Messages::of({{.id = "the id", .body = "hello"}}), {}, nullptr)));
  const auto items = store_.scan("messages");
  ASSERT_THAT(items, SizeIs(2));
  for (const item::Item& item : items) {
    if (item.find("Shelf")->as<std::string>() == "counts/q") {
      EXPECT_EQ(item.find("Ready")->as<item::Number>().to_int64(), 1);
      continue;
    }
    EXPECT_EQ(item.find("Shelf")->as<std::string>(), "ready/q");
    EXPECT_THAT(item.find("Position")->as<std::string>(), ::testing::MatchesRegex("1767323045000-000000-[0-9a-f]{8}"));
    EXPECT_EQ(item.find("MessageId")->as<std::string>(), "the id");
    EXPECT_EQ(item.find("Deliveries")->as<item::Number>().to_int64(), 0);
    EXPECT_EQ(base::to_hex(item.find("Content")->as<item::Binary>().bytes),
              "005370c0020141"                // header: a list of one, durable
              "005373c01a07a106746865206964"  // properties: a list of seven, the id first,
              "4040404040"                    // no user, to, subject, reply-to and correlation id,
              "a30a746578742f706c61696e"      // and the content type
              "005375a00568656c6c6f");        // data
  }
}

TEST_F(StoreQueueTest, AMessageReturnsWhenItsLeaseEnds) {
  produce(3);
  const auto held = receive(*queue_, 2);
  EXPECT_THAT(ids_of(held->messages()), ElementsAre("m0", "m1"));
  clock_->advance(milliseconds(59'999));
  EXPECT_THAT(ids_of(receive(*other_, 10)->messages()), ElementsAre("m2"));
  clock_->advance(milliseconds(100));  // it does not look all the time
  const auto again = receive(*other_, 10);
  ASSERT_THAT(ids_of(again->messages()), ElementsAre("m0", "m1", "m2"));
  EXPECT_EQ(again->messages()[0].headers.at("first-acquirer"), Scalar(false));
  EXPECT_EQ(again->messages()[0].headers.at("delivery-count"), Scalar(std::int64_t{1}));
  // The first holder is too late, and damages nothing.
  EXPECT_EQ(kind_of(held->acknowledge()), "connection lost");
  EXPECT_TRUE(succeeded(again->acknowledge()));
  EXPECT_THAT(take_all(*queue_, "q"), IsEmpty());
  EXPECT_EQ(store_.count_messages(), 0U);
}

TEST_F(StoreQueueTest, ALateHolderCannotSettleWhatAnotherHolds) {
  produce(2);
  auto late = receive(*queue_, 2);
  clock_->advance(seconds(60));
  const auto held = receive(*other_, 1);
  EXPECT_THAT(ids_of(held->messages()), ElementsAre("m0"));
  for (const Disposition disposition : {Disposition::acknowledge}) {
    const auto settled = late->settle({disposition, disposition});
    EXPECT_EQ(kind_of(settled), "connection lost");
    EXPECT_THAT(settled.error().message, HasSubstr("2 of 2"));
  }
  EXPECT_EQ(depth(), 1U);
  EXPECT_TRUE(succeeded(held->release()));
  EXPECT_THAT(ids_of(take_all(*queue_, "q")), ElementsAre("m0", "m1"));
}

TEST_F(StoreQueueTest, WhatIsStillHeldIsSettledAlthoughTheRestIsLost) {
  produce(1, {.time_to_live = seconds(30)}, "short-");
  produce(1);
  const auto held = receive(*queue_, 2);
  ASSERT_THAT(held->messages(), SizeIs(2));
  // Another program removes one of them.
  for (const item::Item& item : store_.scan("messages"))
    if (const auto* id = item.find("MessageId"); id != nullptr && id->as<std::string>() == "short-0") {
      store::DeleteItemRequest removal;
      removal.table_name = "messages";
      removal.key = {{"Shelf", *item.find("Shelf")}, {"Position", *item.find("Position")}};
      ASSERT_TRUE(store_.engine().delete_item(removal));
    }
  EXPECT_THAT(held->acknowledge().error().message, HasSubstr("1 of 2"));
  EXPECT_EQ(store_.count_messages(), 0U);
}

TEST_F(StoreQueueTest, DelayedMessagesComeWhenTheyAreDue) {
  produce(3, {.delay = seconds(10)}, "later-");
  produce(1, {}, "now-");
  produce(1, {.delay = seconds(5)}, "sooner-");
  EXPECT_EQ(depth(), 1U);
  EXPECT_THAT(ids_of(take_all(*other_, "q")), ElementsAre("now-0"));
  clock_->advance(milliseconds(4'999));
  EXPECT_THAT(take_all(*other_, "q"), IsEmpty());
  clock_->advance(milliseconds(5'001));
  EXPECT_EQ(depth(), 4U);
  EXPECT_THAT(ids_of(take_all(*other_, "q")), ElementsAre("sooner-0", "later-0", "later-1", "later-2"));
  EXPECT_EQ(store_.count_messages(), 0U);
}

TEST_F(StoreQueueTest, MessagesExpireExactlyWhenTheirTimeIsOver) {
  produce(1, {.time_to_live = seconds(10)}, "call-");
  ASSERT_TRUE(is_complete(
      queue_->produce("q", Messages::of({{.id = "own", .body = "", .headers = {{"ttl", std::int64_t{5'000}}}}}),
                      {.time_to_live = seconds(10)}, nullptr)));
  produce(1, {}, "ever-");
  clock_->advance(milliseconds(4'999));
  auto held = receive(*queue_, 10);
  EXPECT_THAT(ids_of(held->messages()), ElementsAre("call-0", "own", "ever-0"));
  ASSERT_TRUE(succeeded(held->release()));
  clock_->advance(milliseconds(1));
  held = receive(*queue_, 10);
  EXPECT_THAT(ids_of(held->messages()), ElementsAre("call-0", "ever-0"));
  // Its lease ends after its time to live: no consumer gets it any more.
  clock_->advance(seconds(60));
  EXPECT_THAT(ids_of(take_all(*other_, "q")), ElementsAre("ever-0"));
  EXPECT_EQ(store_.count_messages(), 0U);
}

TEST_F(StoreQueueTest, DepthCountsWhatWaits) {
  EXPECT_EQ(depth("never used"), 0U);
  produce(250);
  EXPECT_EQ(depth(), 250U);
  const auto held = receive(*other_, 100);
  EXPECT_EQ(depth(), 150U);
  const auto more = receive(*queue_, 10);
  ASSERT_TRUE(succeeded(more->release()));
  EXPECT_EQ(depth(), 150U);
  ASSERT_TRUE(succeeded(held->acknowledge()));
  EXPECT_EQ(depth(), 150U);
  const auto forgotten = receive(*queue_, 150);
  EXPECT_EQ(depth(), 0U);
  clock_->advance(seconds(60));
  EXPECT_EQ(depth(), 150U) << "their leases have ended";
  EXPECT_THAT(take_all(*other_, "q"), SizeIs(150));
  EXPECT_EQ(depth(), 0U);
}

TEST_F(StoreQueueTest, NothingIsLeftOfWhatIsDone) {
  for (int round = 0; round < 20; ++round) {
    produce(100);
    EXPECT_THAT(take_all(*other_, "q"), SizeIs(100));
    clock_->advance(seconds(1));
  }
  const auto items = store_.scan("messages");
  EXPECT_LE(items.size(), 8U);
  for (const item::Item& item : items) EXPECT_EQ(item.find("Shelf")->as<std::string>(), "counts/q");
}

TEST_F(StoreQueueTest, RejectedMessagesAreDroppedWhenTheyAreRejectedAgain) {
  produce(1);
  ASSERT_TRUE(succeeded(receive(*queue_, 1)->settle({Disposition::reject})));
  EXPECT_EQ(depth("q"), 0U);
  EXPECT_EQ(depth("q.dead"), 1U);
  auto dead = queue_->receive("q.dead", {});
  ASSERT_TRUE(succeeded(dead));
  ASSERT_TRUE(succeeded((*dead)->settle({Disposition::reject})));
  EXPECT_EQ(depth("q.dead"), 0U);
  EXPECT_EQ(store_.count_messages(), 0U);
}

TEST_F(StoreQueueTest, LargeMessagesAreRefusedAndSmallerOnesGoThrough) {
  const std::string largest(max_stored_message_bytes - 200, 'x');
  ASSERT_TRUE(is_complete(queue_->produce("q", Messages::of({{.id = "a", .body = largest}}), {}, nullptr)));
  const auto report = queue_->produce(
      "q", Messages::of({{.id = "b", .body = std::string(max_stored_message_bytes, 'x')}}), {}, nullptr);
  EXPECT_EQ(kind_of(report), "invalid");
  EXPECT_THAT(report.failure->message, HasSubstr("queues in the store take up to 262144"));
  // More than a transaction takes at once, both ways.
  ASSERT_TRUE(is_complete(queue_->produce(
      "q", {60, [&](std::size_t i) { return Message{.id = std::to_string(i), .body = largest}; }}, {}, nullptr)));
  const auto messages = take_all(*other_, "q");
  ASSERT_THAT(messages, SizeIs(61));
  EXPECT_EQ(messages.back().id, "59");
  EXPECT_EQ(messages.back().body, largest);
}

TEST_F(StoreQueueTest, AFullQueueRefusesMoreUntilThereIsRoom) {
  const auto small = store_.make_queue({.max_messages = 250});
  const auto report = small->produce("q", numbered(300), {}, nullptr);
  EXPECT_EQ(kind_of(report), "exhausted");
  EXPECT_EQ(report.prefix, 250U);
  EXPECT_EQ(report.states[250], SendState::unsent);
  EXPECT_EQ(kind_of(small->produce("q", numbered(1), {}, nullptr)), "exhausted");
  EXPECT_TRUE(is_complete(small->produce("other", numbered(1), {}, nullptr)));
  ASSERT_TRUE(succeeded(receive(*queue_, 1)->acknowledge()));
  EXPECT_TRUE(is_complete(small->produce("q", numbered(1), {}, nullptr)));
  EXPECT_EQ(kind_of(small->produce("q", numbered(1), {}, nullptr)), "exhausted");
}

TEST_F(StoreQueueTest, ExpiredMessagesMakeRoomInAFullQueueThatNobodyReads) {
  const auto small = store_.make_queue({.max_messages = 250});
  ASSERT_TRUE(is_complete(small->produce("q", numbered(250), {.time_to_live = seconds(1)}, nullptr)));
  EXPECT_EQ(kind_of(small->produce("q", numbered(1), {}, nullptr)), "exhausted");
  clock_->advance(seconds(1));
  EXPECT_TRUE(is_complete(small->produce("q", numbered(250, "new-"), {}, nullptr)));
  EXPECT_EQ(store_.count_messages(), 250U);
}

TEST_F(StoreQueueTest, TheOrderHoldsWhenTheClockGoesBack) {
  produce(2, {}, "a");
  clock_->advance(-seconds(3'600));
  produce(2, {}, "b");
  EXPECT_THAT(ids_of(take_all(*queue_, "q")), ElementsAre("a0", "a1", "b0", "b1"));
}

TEST_F(StoreQueueTest, QueuesOutliveTheirProcess) {
  produce(2);
  auto held = receive(*other_, 1);
  auto third = store_.make_queue();
  EXPECT_THAT(ids_of(take_all(*third, "q")), ElementsAre("m1"));
  EXPECT_TRUE(succeeded(held->release()));
  third = store_.make_queue();
  EXPECT_THAT(ids_of(take_all(*third, "q")), ElementsAre("m0"));
}

TEST_F(StoreQueueTest, HeldMessagesOutliveTheQueueTheyCameFrom) {
  produce(1);
  auto third = store_.make_queue();
  auto held = receive(*third, 1);
  third.reset();
  EXPECT_TRUE(succeeded(held->acknowledge()));
  EXPECT_EQ(store_.count_messages(), 0U);
}

// A damaged store has lost messages and counts, and has counts of queues that are gone.
TEST_F(StoreQueueTest, IsCountedAnewFromWhatIsThere) {
  produce(5);
  produce(3, {.delay = hours(1)}, "later");
  const auto held = receive(*queue_, 2);
  bool lost = false;
  for (const item::Item& item : store_.scan("messages")) {
    const auto& shelf = item.find("Shelf")->as<std::string>();
    const bool is_lost = shelf == "counts/q" || (shelf == "ready/q" && !lost);
    if (!is_lost) continue;
    lost = lost || shelf == "ready/q";
    ASSERT_TRUE(store_.engine().delete_item(
        {.table_name = "messages", .key = {{"Shelf", shelf}, {"Position", *item.find("Position")}}}));
  }
  ASSERT_TRUE(lost);
  ASSERT_TRUE(store_.engine().put_item(
      {.table_name = "messages", .item = {{"Shelf", "counts/gone"}, {"Position", "3"}, {"Ready", 7}}}));

  QueueTable table(store_.engine(), store_.random(), store_.retry(), "messages");
  for (int round = 0; round < 2; ++round) {  // again changes nothing
    const auto counted = table.recount();
    ASSERT_TRUE(counted) << counted.error().message;
    EXPECT_EQ(*table.counts("q"), (QueueTable::Counts{2, 3, 2}));
    EXPECT_EQ(*table.counts("gone"), (QueueTable::Counts{0, 0, 0}));
  }
  EXPECT_TRUE(succeeded(held->acknowledge()));
  EXPECT_EQ(*table.counts("q"), (QueueTable::Counts{2, 3, 0})) << "and goes on";
}

TEST_F(StoreQueueTest, CountsThatDifferAreNamed) {
  produce(5);
  produce(3, {.delay = hours(1)}, "later");
  const auto held = receive(*queue_, 2);
  const auto differences = [&] {
    QueueCountCheck check("messages");
    for (const item::Item& item : store_.scan("messages")) {
      check.add("messages", item);
      check.add("another", item);
    }
    return check.differences();
  };
  EXPECT_THAT(differences(), IsEmpty());
  const auto put = [&](const std::string& shelf, const std::string& name, const item::AttributeValue& value) {
    ASSERT_TRUE(store_.engine().put_item(
        {.table_name = "messages", .item = {{"Shelf", shelf}, {"Position", "foreign"}, {name, value}}}));
  };
  put("counts/gone", "Ready", 7);
  put("ready/q", "Content", "no message, and there all the same");
  put("counts/q", "Held", -1);
  EXPECT_THAT(differences(), ElementsAre("counts of queue gone: Ready is 7, and there are 0 messages",
                                         "counts of queue q: Ready is 3, and there are 4 messages",
                                         "counts of queue q: Held is 1, and there are 2 messages"));
  for (const item::AttributeValue& value :
       {item::AttributeValue(item::Number::parse("0.5").value()), item::AttributeValue("x")}) {
    put("counts/q", "Later", value);
    EXPECT_THAT(differences(), ::testing::Contains("counts of queue q: Later is no whole number"));
    QueueTable table(store_.engine(), store_.random(), store_.retry(), "messages");
    EXPECT_TRUE(table.tally("q")->is_spoilt);
  }
  QueueTable table(store_.engine(), store_.random(), store_.retry(), "messages");
  ASSERT_TRUE(table.recount());
  EXPECT_THAT(differences(), IsEmpty());
}

TEST_F(StoreQueueTest, CountingAnewNeedsNoTable) {
  QueueTable table(store_.engine(), store_.random(), store_.retry(), "none");
  EXPECT_TRUE(table.recount());
}

TEST_F(StoreQueueTest, ATableOfAnotherKindIsRefused) {
  store::CreateTableRequest request;
  request.table_name = "foreign";
  request.attribute_definitions = {{"Id", item::Type::string}};
  request.key_schema = {{"Id", store::KeyRole::hash}};
  request.billing_mode = store::BillingMode::pay_per_request;
  ASSERT_TRUE(store_.engine().create_table(request));
  const auto foreign = store_.make_queue({.table = "foreign"});
  const auto report = foreign->produce("q", numbered(1), {}, nullptr);
  EXPECT_EQ(kind_of(report), "refused");
  EXPECT_THAT(report.failure->message, HasSubstr("table foreign exists with other keys than are needed"));
  EXPECT_FALSE(foreign->receive("q", {}));
  EXPECT_FALSE(foreign->depth("q"));
  EXPECT_FALSE(foreign->test());
}

}  // namespace
}  // namespace postino::messages
