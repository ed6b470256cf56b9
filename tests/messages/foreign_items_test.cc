// Queues in the store whose table other programs write to, and clocks that were wrong.
#include <gmock/gmock.h>

#include "item/json_codec.h"
#include "message_store.h"
#include "messages/queue_layout.h"
#include "service_environment.h"

namespace postino::messages {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ForeignItems : public ::testing::Test {
 protected:
  void produce(std::size_t count, const std::string& prefix = "m", const std::string& queue = "q") {
    ASSERT_TRUE(is_complete(queue_->produce(queue, numbered(count, prefix), {}, nullptr)));
  }
  void put(item::Item item) {
    store::PutItemRequest put;
    put.table_name = "messages";
    put.item = std::move(item);
    const auto answer = store_.engine().put_item(put);
    ASSERT_TRUE(answer) << answer.error().message;
  }
  // All slices of the counts of the queue.
  void spoil_counts(const item::AttributeValue& value) {
    for (int slice = 0; slice < count_slices; ++slice)
      put({{"Shelf", "counts/q"},
           {"Position", std::to_string(slice)},
           {"Ready", value},
           {"Later", 0},
           {"Held", value}});
  }
  std::vector<broker::Message> take(const std::string& queue = "q") { return take_all(*queue_, queue); }
  std::unique_ptr<broker::Held> hold(std::size_t count) {
    auto held = queue_->receive("q", {.max_messages = count});
    EXPECT_TRUE(succeeded(held));
    return *std::move(held);
  }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  MessageStore store_{clock_};
  std::unique_ptr<StoreQueue> queue_ = store_.make_queue({.lease = seconds(60)});
};

TEST_F(ForeignItems, CountsThatAreNoNumbersStopNobody) {
  produce(1);
  for (const item::AttributeValue& value :
       {item::AttributeValue("many"), item::AttributeValue(item::List{}), item::AttributeValue(item::Binary{"1"})}) {
    spoil_counts(value);
    produce(2, "n");
    EXPECT_THAT(take(), SizeIs(::testing::Ge(2U)));
    EXPECT_TRUE(succeeded(queue_->depth("q")));
  }
  EXPECT_EQ(store_.count_messages(), 0U);
}

TEST_F(ForeignItems, CountsThatAreLargerThanAnyNumberAreNone) {
  produce(1);
  spoil_counts(item::parse_value(R"({"N":"9.9E125"})").value());
  produce(1, "n");
  EXPECT_THAT(ids_of(take()), ElementsAre("m0", "n0"));
  put({{"Shelf", "counts/q"}, {"Position", "a"}, {"Ready", INT64_MIN}, {"Later", 0}, {"Held", INT64_MIN}});
  put({{"Shelf", "counts/q"}, {"Position", "b"}, {"Ready", INT64_MIN}, {"Later", 0}, {"Held", INT64_MIN}});
  EXPECT_TRUE(succeeded(queue_->depth("q")));
  produce(1, "o");
}

TEST_F(ForeignItems, CountsThatCannotBeTrueAreCountedAnew) {
  for (const char* const count : {"1000000", "9223372036854775807", "-5", "-9223372036854775808", "1E30", "-1E30"}) {
    produce(3);
    spoil_counts(item::Number::parse(count).value());
    clock_->advance(minutes(1));  // it is not counted again and again
    produce(1, "n");
    EXPECT_EQ(queue_->depth("q")->ready, 4U) << count;
    EXPECT_THAT(take(), SizeIs(4));
    EXPECT_EQ(queue_->depth("q")->ready, 0U) << count;
  }
}

TEST_F(ForeignItems, AQueueThatIsReallyFullStaysClosed) {
  queue_ = store_.make_queue({.lease = seconds(60), .max_messages = 5});
  produce(5);
  for (int round = 0; round < 3; ++round) {
    EXPECT_FALSE(is_complete(queue_->produce("q", numbered(1, "n"), {}, nullptr)));
    clock_->advance(minutes(1));
  }
  EXPECT_THAT(take(), SizeIs(5));
  produce(5);
}

TEST_F(ForeignItems, WhereverAMessageStandsItIsGivenOut) {
  produce(1);
  item::Item message;
  for (const item::Item& item : store_.scan("messages"))
    if (item.contains("Content")) message = item;
  for (const char* const place : {"-1", " ", "x", "~~", "\u00e9"}) {
    for (const char* const shelf : {"ready/q", "later/q", "held/q"}) {
      message.set("Shelf", shelf);
      message.set("Position", place);
      put(message);
    }
  }
  EXPECT_THAT(take(), SizeIs(16));
  EXPECT_EQ(store_.count_messages(), 0U);
}

TEST_F(ForeignItems, NumbersThatCannotBeCountAsAbsent) {
  produce(1);
  item::Item message;
  for (const item::Item& item : store_.scan("messages"))
    if (item.contains("Content")) message = item;
  for (const char* const number : {"-1", "9223372036854775807", "1E30", "-1E30"}) {
    message.set("ExpiresAt", item::Number::parse(number).value());
    message.set("Deliveries", item::Number::parse(number).value());
    put(message);
    const std::vector<broker::Message> taken = take();
    ASSERT_THAT(taken, SizeIs(1)) << number;
    EXPECT_EQ(std::get<std::int64_t>(taken[0].headers.at("delivery-count")), 0) << number;
  }
}

TEST_F(ForeignItems, AMessageWithoutContentIsSetAsideWithTheReason) {
  produce(1);
  put({{"Shelf", "ready/q"}, {"Position", "0000000000001"}, {"Content", "a text"}, {"MessageId", "foreign"}});
  put({{"Shelf", "ready/q"}, {"Position", "0000000000002"}, {"Content", 7}});
  put({{"Shelf", "ready/q"}, {"Position", "0000000000003"}});
  put({{"Shelf", "ready/q"}, {"Position", "0000000000004"}, {"Content", item::Binary{""}}});
  put({{"Shelf", "later/q"}, {"Position", "0000000000005"}, {"Content", "late"}});
  put({{"Shelf", "held/q"}, {"Position", "0000000000006"}, {"Content", "held"}});
  EXPECT_THAT(ids_of(take()), ElementsAre("m0"));
  EXPECT_THAT(take(), IsEmpty());
  const std::vector<broker::Message> dead = take("q.dead");
  ASSERT_THAT(dead, SizeIs(6));
  std::multiset<std::string> bodies;
  for (const broker::Message& message : dead) {
    EXPECT_EQ(message.fault, "");
    EXPECT_THAT(std::get<std::string>(message.properties.at(std::string(fault_property))),
                HasSubstr("the attribute Content is"));
    bodies.insert(message.body);
    if (message.body == "a text") {
      EXPECT_EQ(message.id, "foreign");
    }
  }
  EXPECT_THAT(bodies, ElementsAre("", "a text", "held", "late", R"({"B":""})", R"({"N":"7"})"));
  EXPECT_EQ(store_.count_messages(), 0U);
}

TEST_F(ForeignItems, InADeadQueueAMessageWithoutContentIsGivenOutWithTheReason) {
  ASSERT_TRUE(succeeded(queue_->test()));  // makes the table
  put({{"Shelf", "ready/q.dead"}, {"Position", "0000000000001"}, {"Content", std::string(390'000, 'x')}});
  const std::vector<broker::Message> dead = take("q.dead");
  ASSERT_THAT(dead, SizeIs(1));
  EXPECT_EQ(dead[0].properties.count(std::string(fault_property)), 1U);
  EXPECT_EQ(dead[0].body.size(), 200U << 10) << "there is not room for all of it";
  EXPECT_EQ(store_.count_messages(), 0U);
}

TEST_F(ForeignItems, OtherAttributesThatAreWrongCountAsAbsent) {
  produce(1);
  item::Item message;
  for (const item::Item& item : store_.scan("messages"))
    if (item.contains("Content")) message = item;
  message.set("ExpiresAt", "soon");
  message.set("Deliveries", "many");
  message.set("LeaseOwner", 7);
  message.set("Shelf", "held/q");
  message.set("Position", "0000000000001");
  put(message);
  EXPECT_THAT(ids_of(take()), ElementsAre("m0", "m0")) << "the one that was held has no place of its own";
  EXPECT_EQ(store_.count_messages(), 0U);
}

TEST_F(ForeignItems, ALeaseThatAClockFarAheadHasGrantedEndsWhenItIsSetRight) {
  produce(3);
  clock_->set_by(hours(24 * 365));
  const auto held = hold(2);
  EXPECT_THAT(ids_of(held->messages()), ElementsAre("m0", "m1"));
  clock_->set_by(-hours(24 * 365));
  queue_ = store_.make_queue({.lease = seconds(60)});
  EXPECT_THAT(ids_of(take()), ElementsAre("m0", "m1", "m2"));
  EXPECT_EQ(kind_of(held->acknowledge()), "connection lost");
}

TEST_F(ForeignItems, SuchLeasesAreLookedForAgainAndOthersLast) {
  produce(1);
  EXPECT_THAT(hold(1)->messages(), SizeIs(1)) << "and returned";
  clock_->set_by(hours(1));
  const auto wrong = hold(1);
  clock_->set_by(-hours(1));
  produce(1, "n");
  auto right = queue_->receive("q", {.max_messages = 1, .linger = minutes(0)});
  ASSERT_TRUE(succeeded(right));
  EXPECT_THAT(ids_of((*right)->messages()), ElementsAre("n0"));
  clock_->advance(seconds(59));
  EXPECT_THAT(take(), IsEmpty());
  ASSERT_TRUE(succeeded((*right)->acknowledge()));
  clock_->advance(seconds(2));
  EXPECT_THAT(ids_of(take()), ElementsAre("m0"));
}

TEST_F(ForeignItems, TheLongestNameLeavesRoomForItsDeadQueue) {
  const std::string longest(longest_stored_queue_name, 'q');
  produce(1, "m", longest);
  auto held = queue_->receive(longest, {});
  ASSERT_TRUE(succeeded(held));
  ASSERT_TRUE(succeeded((*held)->settle({broker::Disposition::reject})));
  EXPECT_THAT(ids_of(take(longest + ".dead")), ElementsAre("m0"));
  EXPECT_EQ(kind_of(queue_->depth(longest + "q")), "invalid");
  EXPECT_EQ(kind_of(queue_->depth("q" + longest + ".dead")), "invalid");
}

// What consumers hold, and answers that their clients have not taken.
class ConsumerMemory : public ::testing::Test {
 protected:
  static constexpr std::size_t limit = 8 << 20;
  static constexpr std::size_t message_bytes = 200 << 10;

  void put(std::size_t count, broker::Format format = broker::Format::binary, char letter = 'x') {
    std::vector<broker::Message> messages;
    for (std::size_t i = 0; i < count; ++i)
      messages.push_back({.id = "m" + std::to_string(i), .body = std::string(message_bytes, letter), .format = format});
    ASSERT_TRUE(is_complete(environment_.embedded().produce("q", broker::Messages::of(messages), {}, nullptr)));
  }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  const std::shared_ptr<base::MemoryBudget> answers_ = std::make_shared<base::MemoryBudget>(limit);
  ServiceEnvironment environment_{clock_, {.answers = answers_}};
  const std::unique_ptr<MessageService> service_ = environment_.make_service();
};

TEST_F(ConsumerMemory, AnAnswerCountsUntilItsClientHasIt) {
  put(3);
  {
    const auto reply = service_->consume(consume_request("k", 3), {});
    ASSERT_TRUE(succeeded(reply));
    EXPECT_EQ(reply->processed, 3U);
    ASSERT_TRUE(reply->memory);
    EXPECT_EQ(answers_->taken(), reply->body.size());
    const auto again = service_->consume(consume_request("k", 3), {});
    ASSERT_TRUE(succeeded(again));
    EXPECT_EQ(again->body, reply->body);
    EXPECT_GE(answers_->taken(), 2 * reply->body.size()) << "a repeated answer counts as well";
  }
  EXPECT_EQ(answers_->taken(), 0U);
}

TEST_F(ConsumerMemory, NoMoreIsTakenFromTheQueueThanThereIsRoomFor) {
  put(40);
  std::vector<Reply> unread;
  std::size_t received = 0;
  for (int round = 0; round < 20; ++round) {
    auto reply = service_->consume(consume_request("k" + std::to_string(round), 40), {});
    EXPECT_LE(answers_->taken(), limit);
    if (!reply) {
      EXPECT_EQ(fault_of_answer(reply), "EXHAUSTED");
      EXPECT_TRUE(reply.error().retry_after);
      break;
    }
    received += reply->processed;
    unread.push_back(*std::move(reply));
  }
  EXPECT_GT(received, 0U);
  EXPECT_LT(received, 40U);
  EXPECT_EQ(environment_.embedded().depth("q")->ready, 40 - received) << "the others wait";
  unread.clear();
  EXPECT_EQ(answers_->taken(), 0U);
  EXPECT_TRUE(succeeded(service_->consume(consume_request("later", 5), {})));
}

TEST_F(ConsumerMemory, AnAnswerThatIsMuchLargerThanItsMessagesIsRefusedBeforeItIsMade) {
  put(8, broker::Format::text, '\x01');
  const auto others = answers_->take(limit / 8);
  const auto reply = service_->consume(consume_request("k", 6), {});
  EXPECT_EQ(fault_of_answer(reply), "EXHAUSTED") << "each letter becomes six";
  EXPECT_EQ(answers_->taken(), limit / 8);
  EXPECT_EQ(environment_.embedded().depth("q")->ready, 8U);
  EXPECT_TRUE(succeeded(service_->consume(consume_request("fewer", 1), {})));
}

TEST_F(ConsumerMemory, ARepeatedAnswerThatFindsNoRoomIsAskedForLater) {
  put(3);
  const auto first = service_->consume(consume_request("k", 3), {});
  ASSERT_TRUE(succeeded(first));
  auto others = answers_->take(limit - answers_->taken());
  EXPECT_EQ(fault_of_answer(service_->consume(consume_request("k", 3), {})), "EXHAUSTED");
  others = {};
  const auto again = service_->consume(consume_request("k", 3), {});
  ASSERT_TRUE(succeeded(again));
  EXPECT_EQ(again->body, first->body);
}

}  // namespace
}  // namespace postino::messages
