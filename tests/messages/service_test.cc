// Produce and consume, once per key, on the store's own queues.
#include "messages/service.h"

#include <gmock/gmock.h>

#include <thread>

#include "base/many_threads_testing.h"
#include "item/json_codec.h"
#include "json/fields.h"
#include "net/raw_server_testing.h"
#include "service_environment.h"

namespace postino::messages {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

class ServiceTest : public ::testing::Test {
 protected:
  std::vector<std::string> ids_in_queue(const std::string& queue = "q") {
    return ids_of(take_all(environment_.embedded(), queue));
  }
  void put(std::size_t count, const std::string& prefix = "m") {
    ASSERT_TRUE(is_complete(environment_.embedded().produce("q", numbered(count, prefix), {}, nullptr)));
  }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  ServiceEnvironment environment_{clock_};
  const std::unique_ptr<MessageService> service_ = environment_.make_service();
};

TEST_F(ServiceTest, ProducesOnceAndAnswersTheSameAgain) {
  std::unique_ptr<MessageService> slow = environment_.make_service([&](Step step) {
    if (step == Step::produced) clock_->advance(milliseconds(2'500));
    return true;
  });
  const ProduceRequest request = produce_request("order-1", 5);
  const auto first = slow->produce(request, {});
  ASSERT_TRUE(succeeded(first));
  EXPECT_FALSE(first->replayed);
  EXPECT_EQ(first->processed, 5U);
  const std::string head =
      R"({"idempotencyKey":"order-1","operationType":"PRODUCE","requestedMessages":5,"processedMessages":5,)"
      R"("startedAt":"2026-01-02T03:04:05.000Z","completedAt":"2026-01-02T03:04:07.500Z","elapsed":"PT2.5S",)"
      R"("metadata":{"connection":"embedded","queueName":"q",)";
  EXPECT_THAT(first->body, StartsWith(head));
  const auto again = service_->produce(request, {});
  ASSERT_TRUE(succeeded(again));
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(again->body, first->body);

  const auto messages = take_all(environment_.embedded(), "q");
  ASSERT_THAT(messages, SizeIs(5));
  EXPECT_EQ(messages[0].body, "one");
  EXPECT_EQ(messages[1].body, "two");
  EXPECT_EQ(messages[4].body, "one");
  EXPECT_THAT(messages[0].id, ::testing::MatchesRegex("[0-9a-f]{32}-0"));
  EXPECT_THAT(messages[4].id, ::testing::MatchesRegex("[0-9a-f]{32}-4"));
  EXPECT_THAT(first->body, HasSubstr(R"("firstMessageId":")" + messages[0].id + "\""));
  EXPECT_THAT(first->body, HasSubstr(R"("lastMessageId":")" + messages[4].id + "\""));
}

TEST_F(ServiceTest, TheRecordHasTheFormOfTheTable) {
  std::string while_running;
  const auto watching = environment_.make_service([&](Step step) {
    if (step == Step::begun) while_running = item::to_json(*environment_.record("PRODUCE#order-1"));
    return true;
  });
  const ProduceRequest request = produce_request("order-1", 1);
  const auto reply = watching->produce(request, {});
  ASSERT_TRUE(succeeded(reply));
  EXPECT_THAT(while_running, HasSubstr(R"("status":{"S":"IN_PROGRESS"})"));
  EXPECT_THAT(while_running, HasSubstr(R"("leaseUntil":{"S":"2026-01-02T03:04:35.000Z"})"));
  EXPECT_THAT(while_running, Not(HasSubstr("responsePayload")));
  EXPECT_EQ(item::to_json(*environment_.record("PRODUCE#order-1")),
            item::to_json(item::Item{{"pk", "PRODUCE#order-1"},
                                     {"operationType", "PRODUCE"},
                                     {"idempotencyKey", "order-1"},
                                     {"status", "COMPLETED"},
                                     {"requestHash", request.hash},
                                     {"responsePayload", reply->body},
                                     {"createdAt", "2026-01-02T03:04:05.000Z"},
                                     {"updatedAt", "2026-01-02T03:04:05.000Z"},
                                     {"expiresAt", "2026-01-03T03:04:05.000Z"},
                                     {"ttl", 1'767'409'445}}));
}

TEST_F(ServiceTest, MessagesAreSentAsTheRequestSays) {
  const auto reply = service_->produce(produce_request(R"({
      "idempotencyKey": "k", "connection": "embedded", "target": {"queueName": "q", "replyToQueue": "answers"},
      "settings": {"deliveryDelay": "PT10S", "timeToLive": "PT1M", "persistent": false},
      "messages": [{"body": {"b": 1, "a": [true]}, "headers": {"priority": 9}, "properties": {"tag": "x", "n": 2.5}},
                   {"body": "AAH/", "format": "BINARY", "correlationId": "c", "contentType": "image/png"}]})"),
                                       {});
  ASSERT_TRUE(succeeded(reply));
  EXPECT_THAT(take_all(environment_.embedded(), "q"), IsEmpty());
  clock_->advance(seconds(10));
  const auto messages = take_all(environment_.embedded(), "q");
  ASSERT_THAT(messages, SizeIs(2));
  EXPECT_EQ(messages[0].body, R"({"b":1,"a":[true]})");
  EXPECT_EQ(messages[0].format, broker::Format::json);
  EXPECT_EQ(messages[0].reply_to, "answers");
  EXPECT_EQ(messages[0].headers.at("priority"), broker::Scalar(std::int64_t{9}));
  EXPECT_EQ(messages[0].headers.at("durable"), broker::Scalar(false));
  EXPECT_EQ(messages[0].headers.at("ttl"), broker::Scalar(std::int64_t{60'000}));
  EXPECT_EQ(messages[0].properties.at("n"), broker::Scalar(2.5));
  EXPECT_EQ(messages[1].body, std::string("\0\x01\xFF", 3));
  EXPECT_EQ(messages[1].format, broker::Format::binary);
  EXPECT_EQ(messages[1].correlation_id, "c");
  EXPECT_EQ(messages[1].content_type, "image/png");
}

TEST_F(ServiceTest, ConsumesOnceAndAnswersTheSameMessagesAgain) {
  put(3);
  const auto first = service_->consume(consume_request("k", 2), {});
  ASSERT_TRUE(succeeded(first));
  EXPECT_EQ(first->processed, 2U);
  EXPECT_THAT(
      first->body,
      StartsWith(R"({"idempotencyKey":"k","operationType":"CONSUME","requestedMessages":2,"processedMessages":2,)"));
  EXPECT_THAT(first->body, HasSubstr(R"("messages":[{"messageId":"m0","body":"This is the message at position 0",)"
                                     R"("format":"TEXT","properties":{},"headers":{)"));
  EXPECT_THAT(first->body, HasSubstr(R"("messageId":"m1")"));
  const auto again = service_->consume(consume_request("k", 2), {});
  ASSERT_TRUE(succeeded(again));
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(again->body, first->body);
  EXPECT_EQ(environment_.attribute("CONSUME#k", "progress"), "");
  EXPECT_EQ(environment_.attribute("CONSUME#k", "leaseOwner"), "");
  EXPECT_THAT(ids_in_queue(), ElementsAre("m2"));
}

TEST_F(ServiceTest, WithoutAcknowledgementMessagesStayInTheQueue) {
  put(2);
  const auto reply = service_->consume(
      consume_request(
          R"({"idempotencyKey":"k","target":{"queueName":"q"},"settings":{"maxMessages":9,"autoAcknowledge":false}})"),
      {});
  ASSERT_TRUE(succeeded(reply));
  EXPECT_EQ(reply->processed, 2U);
  EXPECT_THAT(reply->body, HasSubstr(R"("acknowledged":false)"));
  EXPECT_THAT(ids_in_queue(), ElementsAre("m0", "m1"));
}

TEST_F(ServiceTest, BytesAreAnsweredInBase64AndAnythingElseAsItIs) {
  ASSERT_TRUE(is_complete(environment_.embedded().produce(
      "q",
      broker::Messages::of(
          {{.body = std::string("\0\x01\xFF", 3), .format = broker::Format::binary},
           {.id = "j", .body = "{\"a\":1}", .format = broker::Format::json, .properties = {{"p", 0.5}, {"q", true}}}}),
      {}, nullptr)));
  const auto reply = service_->consume(consume_request("k", 9), {});
  ASSERT_TRUE(succeeded(reply));
  EXPECT_THAT(reply->body, HasSubstr(R"({"messageId":null,"body":"AAH/","format":"BINARY")"));
  EXPECT_THAT(reply->body, HasSubstr(R"({"messageId":"j","body":"{\"a\":1}","format":"JSON",)"
                                     R"("properties":{"p":0.5,"q":true})"));
}

TEST_F(ServiceTest, AnEmptyQueueIsAnAnswerToo) {
  const auto reply = service_->consume(consume_request("k", 9), {});
  ASSERT_TRUE(succeeded(reply));
  EXPECT_THAT(reply->body, HasSubstr(R"("processedMessages":0)"));
  EXPECT_THAT(reply->body, HasSubstr(R"("messages":[])"));
  put(1);
  EXPECT_EQ(service_->consume(consume_request("k", 9), {})->body, reply->body);
}

TEST_F(ServiceTest, AnotherPayloadUnderTheKeyIsRefusedAlsoWhenItIsDone) {
  std::string meanwhile;
  const auto asking = environment_.make_service([&](Step step) {
    if (step == Step::begun) meanwhile = fault_of_answer(service_->produce(produce_request("k", 2), {}));
    return true;
  });
  ASSERT_TRUE(succeeded(asking->produce(produce_request("k", 1), {})));
  EXPECT_EQ(meanwhile, "OTHER_REQUEST");
  EXPECT_EQ(fault_of_answer(service_->produce(produce_request("k", 2), {})), "OTHER_REQUEST");
  EXPECT_TRUE(service_->produce(produce_request("k", 1), {})->replayed);
  EXPECT_THAT(ids_in_queue(), SizeIs(1));
}

TEST_F(ServiceTest, TheSameWordsInAnotherOrderAreTheSameRequest) {
  ASSERT_TRUE(succeeded(service_->produce(
      produce_request(R"({"idempotencyKey":"k","target":{"queueName":"q"},"messages":[{"body":"x","format":"TEXT"}]})"),
      {})));
  const auto again =
      service_->produce(produce_request("{ \"messages\": [ {\"format\":\"TEXT\", \"body\":\"x\"} ],\n"
                                        "  \"target\": {\"queueName\":\"q\"}, \"idempotencyKey\": \"k\" }"),
                        {});
  ASSERT_TRUE(succeeded(again));
  EXPECT_TRUE(again->replayed);
}

TEST_F(ServiceTest, WhoAsksMeanwhileHearsThatItIsInProgress) {
  std::vector<std::string> meanwhile;
  const auto asking = environment_.make_service([&](Step) {
    meanwhile.push_back(fault_of_answer(service_->produce(produce_request("k", 30), {})));
    return true;
  });
  ASSERT_TRUE(succeeded(asking->produce(produce_request("k", 30), {})));
  // Begun, three parts, all, and done.
  EXPECT_THAT(meanwhile, ElementsAre("IN_PROGRESS", "IN_PROGRESS", "IN_PROGRESS", "IN_PROGRESS", "IN_PROGRESS", ""));
  EXPECT_THAT(ids_in_queue(), SizeIs(30));
}

TEST_F(ServiceTest, ProduceAndConsumeAndScopesDoNotMeet) {
  ASSERT_TRUE(succeeded(service_->produce(produce_request("k", 1), {})));
  ASSERT_FALSE(service_->produce(produce_request("k", 1), {.scope = "acme"})->replayed);
  ASSERT_FALSE(service_->produce(produce_request("k", 1), {.scope = "other"})->replayed);
  ASSERT_TRUE(service_->produce(produce_request("k", 1), {.scope = "acme"})->replayed);
  EXPECT_TRUE(environment_.record("PRODUCE#acme\u00B7k"));
  EXPECT_FALSE(service_->consume(consume_request("k", 10), {})->replayed);
  EXPECT_THAT(ids_in_queue(), IsEmpty());
}

TEST_F(ServiceTest, AnExpiredKeyIsFree) {
  ASSERT_TRUE(succeeded(service_->produce(produce_request("k", 1), {.life = seconds(100)})));
  EXPECT_EQ(environment_.attribute("PRODUCE#k", "expiresAt"), "2026-01-02T03:05:45.000Z");
  clock_->advance(seconds(99));
  EXPECT_TRUE(service_->produce(produce_request("k", 1), {})->replayed);
  clock_->advance(seconds(1));
  EXPECT_FALSE(service_->produce(produce_request("k", 2), {})->replayed) << "also for another request";
  EXPECT_THAT(ids_in_queue(), SizeIs(3));
}

TEST_F(ServiceTest, AFailedProduceGoesOnWhereItsConfirmedPartEnds) {
  ServiceEnvironment small(clock_, {.queue = {.max_messages = 25}});
  const auto service = small.make_service();
  const auto failed = service->produce(produce_request("k", 40), {});
  EXPECT_EQ(fault_of_answer(failed), "EXHAUSTED");
  EXPECT_THAT(failed.error().message, HasSubstr("25 of 40 messages are confirmed"));
  EXPECT_TRUE(failed.error().retry_after);
  EXPECT_EQ(small.attribute("PRODUCE#k", "status"), "FAILED");
  EXPECT_EQ(small.attribute("PRODUCE#k", "progress"), "25");
  EXPECT_EQ(small.attribute("PRODUCE#k", "leaseOwner"), "");
  std::vector<std::string> ids = ids_of(take_all(small.embedded(), "q"));
  EXPECT_THAT(ids, SizeIs(25));

  const auto reply = service->produce(produce_request("k", 40), {});
  ASSERT_TRUE(succeeded(reply));
  EXPECT_FALSE(reply->replayed);
  EXPECT_EQ(reply->processed, 15U);
  EXPECT_THAT(reply->body, HasSubstr(R"("processedMessages":40)"));
  EXPECT_THAT(reply->body, HasSubstr(R"("resumedFrom":25)"));
  EXPECT_EQ(small.attribute("PRODUCE#k", "progress"), "");
  for (std::string& id : ids_of(take_all(small.embedded(), "q"))) ids.push_back(std::move(id));
  const std::string prefix = ids[0].substr(0, 33);
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], prefix + std::to_string(i));
  EXPECT_THAT(ids, SizeIs(40));
}

TEST_F(ServiceTest, AnotherRequestIsRefusedAfterAFailureThatLeftMessagesBehind) {
  ServiceEnvironment small(clock_, {.queue = {.max_messages = 5}});
  const auto service = small.make_service();
  EXPECT_FALSE(service->produce(produce_request("k", 8), {}));
  EXPECT_THAT(take_all(small.embedded(), "q"), SizeIs(5));
  EXPECT_EQ(fault_of_answer(service->produce(produce_request("k", 4), {})), "OTHER_REQUEST");
  ASSERT_TRUE(succeeded(service->produce(produce_request("k", 8), {})));
  EXPECT_THAT(take_all(small.embedded(), "q"), SizeIs(3));
}

TEST_F(ServiceTest, AnotherRequestMayFollowAFailureThatLeftNothing) {
  ServiceEnvironment small(clock_, {.queue = {.max_messages = 2}});
  const auto service = small.make_service();
  ASSERT_TRUE(succeeded(service->produce(produce_request("full", 2), {})));
  EXPECT_EQ(fault_of_answer(service->produce(produce_request("k", 2), {})), "EXHAUSTED");
  EXPECT_EQ(small.attribute("PRODUCE#k", "progress"), "");
  EXPECT_THAT(take_all(small.embedded(), "q"), SizeIs(2));
  EXPECT_TRUE(succeeded(service->produce(produce_request("k", 1), {})));
}

TEST_F(ServiceTest, AnAnswerOutlivesItsConnection) {
  EnvironmentOptions options;
  options.connections.embedded_names = {"main"};
  ServiceEnvironment with(clock_, options);
  const std::string produce = R"({"idempotencyKey":"k","connection":"main","target":{"queueName":"q"},
                                  "messages":[{"body":"x"}]})";
  const std::string consume = R"({"idempotencyKey":"k","connection":"main","target":{"queueName":"q"}})";
  const auto produced = with.make_service()->produce(produce_request(produce), {});
  const auto consumed = with.make_service()->consume(consume_request(consume), {});
  ASSERT_TRUE(succeeded(produced));
  ASSERT_TRUE(succeeded(consumed));

  // The same store, with another configuration.
  auto connections = Connections::create({}, nullptr);
  ASSERT_TRUE(connections);
  MessageService service(with.store().engine(), **connections, with.store().clock(), with.store().random(),
                         with.store().retry(), {});
  const auto produced_again = service.produce(produce_request(produce), {});
  ASSERT_TRUE(succeeded(produced_again));
  EXPECT_TRUE(produced_again->replayed);
  EXPECT_EQ(produced_again->body, produced->body);
  const auto consumed_again = service.consume(consume_request(consume), {});
  ASSERT_TRUE(succeeded(consumed_again));
  EXPECT_EQ(consumed_again->body, consumed->body);
}

TEST_F(ServiceTest, AServerThatStopsWaitsForNoMessages) {
  ConsumeRequest request = consume_request("k", 5);
  request.wait = std::chrono::minutes(4);
  const auto stopping = environment_.make_service([&](Step) { return true; });
  std::thread call([&] {
    const auto stopped = stopping->consume(request, {});
    EXPECT_EQ(fault_of_answer(stopped), "EXHAUSTED");
    EXPECT_THAT(stopped.error().message, HasSubstr("shutting down"));
  });
  while (environment_.attribute("CONSUME#k", "status") != "IN_PROGRESS") std::this_thread::yield();
  stopping->stop();
  call.join();
  EXPECT_EQ(environment_.attribute("CONSUME#k", "status"), "FAILED");
  put(1);
  request.wait = seconds(0);
  EXPECT_EQ(service_->consume(request, {})->processed, 1U);
}

TEST_F(ServiceTest, AServerThatStopsLeavesAProduceToTheNext) {
  std::unique_ptr<MessageService> stopping;
  stopping = environment_.make_service([&](Step step) {
    if (step == Step::progressed) stopping->stop();
    return true;
  });
  EXPECT_EQ(fault_of_answer(stopping->produce(produce_request("k", 100, 10), {})), "EXHAUSTED");
  EXPECT_EQ(environment_.attribute("PRODUCE#k", "progress"), "10");
  const auto reply = service_->produce(produce_request("k", 100, 10), {});
  ASSERT_TRUE(succeeded(reply));
  EXPECT_EQ(reply->processed, 90U);
  EXPECT_THAT(ids_in_queue(), SizeIs(100));
}

TEST_F(ServiceTest, AnExpiredFailureIsForgottenWithItsProgress) {
  ServiceEnvironment small(clock_, {.queue = {.max_messages = 5}});
  const auto service = small.make_service();
  EXPECT_FALSE(service->produce(produce_request("k", 8), {.life = seconds(100)}));
  EXPECT_THAT(take_all(small.embedded(), "q"), SizeIs(5));
  clock_->advance(seconds(100));
  EXPECT_FALSE(service->produce(produce_request("k", 8), {}));
  EXPECT_EQ(small.attribute("PRODUCE#k", "progress"), "5");
  EXPECT_THAT(take_all(small.embedded(), "q"), SizeIs(5)) << "from the beginning";
}

// A thread looks for leases to renew after a sixth of a lease, of time that really passes: so this one is short.
TEST_F(ServiceTest, AnExecutionThatTakesLongKeepsItsLease) {
  ServiceEnvironment environment(clock_, {.lease = milliseconds(120)});
  ASSERT_TRUE(is_complete(environment.embedded().produce("q", numbered(1), {}, nullptr)));
  const auto other = environment.make_service();
  std::vector<std::string> meanwhile;
  const auto slow = environment.make_service([&](Step step) {
    for (int i = 0; step == Step::received && i < 5; ++i) {
      const std::string until = environment.attribute("CONSUME#k", "leaseUntil");
      clock_->advance(milliseconds(80));
      EXPECT_TRUE(base::eventually([&] { return environment.attribute("CONSUME#k", "leaseUntil") > until; }));
      meanwhile.push_back(fault_of_answer(other->consume(consume_request("k", 1), {})));
    }
    return true;
  });
  ASSERT_TRUE(succeeded(slow->consume(consume_request("k", 1), {})));
  EXPECT_THAT(meanwhile, ::testing::Each("IN_PROGRESS"));
  EXPECT_THAT(meanwhile, SizeIs(5));
}

TEST_F(ServiceTest, RecordedProgressKeepsTheLeaseToo) {
  std::vector<std::string> meanwhile;
  const auto slow = environment_.make_service([&](Step step) {
    if (step != Step::progressed) return true;
    clock_->advance(seconds(29));
    meanwhile.push_back(fault_of_answer(service_->produce(produce_request("k", 30), {})));
    return true;
  });
  ASSERT_TRUE(succeeded(slow->produce(produce_request("k", 30), {})));
  EXPECT_THAT(meanwhile, ElementsAre("IN_PROGRESS", "IN_PROGRESS", "IN_PROGRESS"));
}

TEST_F(ServiceTest, AServerDoesNotExecuteTwiceAtTheSameTimeThoughItsLeaseIsOver) {
  std::vector<std::string> meanwhile;
  std::unique_ptr<MessageService> slow;
  slow = environment_.make_service([&](Step step) {
    if (step != Step::produced || !meanwhile.empty()) return true;
    clock_->advance(std::chrono::hours(48));
    meanwhile.push_back(fault_of_answer(slow->produce(produce_request("k", 5), {})));
    return true;
  });
  ASSERT_TRUE(succeeded(slow->produce(produce_request("k", 5), {})));
  EXPECT_THAT(meanwhile, ElementsAre("IN_PROGRESS"));
  EXPECT_THAT(ids_in_queue(), SizeIs(5));
}

TEST_F(ServiceTest, WhoLosesTheLeaseWhileProducingStops) {
  bool taken = false;
  const auto slow = environment_.make_service([&](Step step) {
    if (step != Step::progressed || std::exchange(taken, true)) return true;
    clock_->advance(seconds(30));
    const auto other = service_->produce(produce_request("k", 50), {});
    EXPECT_TRUE(succeeded(other));
    EXPECT_THAT(other->body, HasSubstr(R"("resumedFrom":10)"));
    return true;
  });
  const auto late = slow->produce(produce_request("k", 50), {});
  EXPECT_EQ(fault_of_answer(late), "IN_PROGRESS");
  EXPECT_THAT(late.error().message, HasSubstr("taken over"));
  EXPECT_EQ(environment_.attribute("PRODUCE#k", "status"), "COMPLETED");
  // Ten by the first and forty by the second: the first has looked before it sent more.
  const auto ids = ids_in_queue();
  EXPECT_THAT(ids, SizeIs(50));
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 50U);
}

TEST_F(ServiceTest, WhoLosesTheLeaseWhileConsumingGivesTheMessagesBack) {
  put(2);
  const auto slow = environment_.make_service([&](Step step) {
    if (step != Step::received) return true;
    clock_->advance(seconds(30));
    const auto other = service_->consume(consume_request("k", 1), {});
    EXPECT_TRUE(succeeded(other));
    EXPECT_THAT(other->body, HasSubstr(R"("messageId":"m1")"));
    return true;
  });
  EXPECT_EQ(fault_of_answer(slow->consume(consume_request("k", 1), {})), "IN_PROGRESS");
  EXPECT_THAT(ids_in_queue(), ElementsAre("m0"));
}

TEST_F(ServiceTest, LargeAnswersAreKeptOutsideTheRecord) {
  ASSERT_TRUE(is_complete(environment_.embedded().produce(
      "q",
      {12,
       [](std::size_t i) {
         return broker::Message{.id = std::to_string(i), .body = std::string(60'000, static_cast<char>('a' + i))};
       }},
      {}, nullptr)));
  const auto first = service_->consume(consume_request("k", 12), {.life = seconds(3'600)});
  ASSERT_TRUE(succeeded(first));
  EXPECT_EQ(first->processed, 12U);
  EXPECT_GT(first->body.size(), 720'000U);
  const auto record = environment_.record("CONSUME#k");
  ASSERT_TRUE(record);
  EXPECT_FALSE(record->contains("responsePayload"));
  EXPECT_EQ(record->find("responseParts")->as<item::Number>().to_int64(), 3);
  const auto parts = environment_.store().scan("mq-probe-idempotency-answers");
  ASSERT_THAT(parts, SizeIs(3));
  for (const item::Item& part : parts)
    EXPECT_EQ(part.find("ttl")->as<item::Number>().to_int64(), base::epoch_seconds(test_start) + 3'600 + 86'400);
  const auto again = service_->consume(consume_request("k", 12), {});
  ASSERT_TRUE(succeeded(again));
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(again->body, first->body);
  EXPECT_THAT(ids_in_queue(), IsEmpty());

  // Without its parts it is no answer.
  store::DeleteItemRequest removal;
  removal.table_name = "mq-probe-idempotency-answers";
  removal.key = {{"pk", *parts[1].find("pk")}, {"part", *parts[1].find("part")}};
  ASSERT_TRUE(environment_.store().engine().delete_item(removal));
  EXPECT_FALSE(service_->consume(consume_request("k", 12), {}));
}

TEST_F(ServiceTest, OneAnswerHasALimitedSize) {
  ASSERT_TRUE(is_complete(environment_.embedded().produce(
      "q", {90, [](std::size_t) { return broker::Message{.id = "x", .body = std::string(200'000, 'x')}; }}, {},
      nullptr)));
  const auto reply = service_->consume(consume_request("k", 1'000), {});
  ASSERT_TRUE(succeeded(reply));
  EXPECT_EQ(reply->processed, 84U) << "16 MiB, and one that ends it";
  EXPECT_THAT(ids_in_queue(), SizeIs(6));
}

TEST_F(ServiceTest, UnknownConnectionsAndForeignHostsAreFaultsOfTheRequest) {
  const auto unknown =
      service_->produce(produce_request(R"({"idempotencyKey":"k","connection":"nowhere","target":{"queueName":"q"},
                                            "messages":[{"body":"x"}]})"),
                        {});
  EXPECT_EQ(fault_of_answer(unknown), "INVALID_REQUEST");
  EXPECT_THAT(unknown.error().fields,
              ElementsAre(json::FieldError{"connection", "must be the name of a connection in the configuration"}));
  const auto foreign = service_->consume(
      consume_request(R"({"idempotencyKey":"k","queueManager":{"endpoints":[{"host":"169.254.169.254"}]},
                          "target":{"queueName":"q"}})"),
      {});
  EXPECT_EQ(fault_of_answer(foreign), "INVALID_REQUEST");
  EXPECT_EQ(foreign.error().fields.at(0).field, "queueManager.endpoints[0].host");
  EXPECT_FALSE(environment_.record("PRODUCE#k")) << "nothing has begun";
  EXPECT_FALSE(environment_.record("CONSUME#k"));
}

TEST_F(ServiceTest, WhenNoEndpointAnswersEachHasItsReasonAndTheKeyIsFree) {
  ServiceEnvironment environment(clock_, {.connections = {.allowed_hosts = loopback_hosts()}});
  const auto service = environment.make_service();
  const std::string body = R"({"idempotencyKey":"k","queueManager":{"name":"QM1","endpoints":[
      {"host":"127.0.0.1","port":1},{"host":"localhost","port":2}],"credentials":{"username":"u","password":"geheim"}},
      "target":{"queueName":"q"}, "messages":[{"body":"x"}]})";
  const auto failed = service->produce(produce_request(body), {});
  EXPECT_EQ(fault_of_answer(failed), "UNREACHABLE");
  ASSERT_THAT(failed.error().endpoints, SizeIs(2));
  EXPECT_EQ(failed.error().endpoints[0].endpoint, "127.0.0.1:1");
  EXPECT_EQ(failed.error().endpoints[1].endpoint, "localhost:2");
  EXPECT_NE(failed.error().endpoints[1].reason, "");
  EXPECT_EQ(environment.attribute("PRODUCE#k", "status"), "FAILED");
  for (const item::Item& item : environment.store().scan("mq-probe-idempotency"))
    EXPECT_THAT(item::to_json(item), Not(HasSubstr("geheim")));
  EXPECT_EQ(fault_of_answer(service->produce(produce_request(body), {})), "UNREACHABLE") << "tried again";
}

TEST_F(ServiceTest, ABrokerThatIsSilentIsAskedByOneAndOthersAreRefusedBeforeAnythingIsWritten) {
  net::RawServer silent([](net::RawPeer& peer) { peer.wait_for_end(); });
  broker::ConnectionSettings settings;
  settings.endpoints = {{"127.0.0.1", silent.port()}};
  settings.connect_timeout = milliseconds(50);
  ServiceEnvironment environment(
      clock_, {.connections = {.named = {{"silent", settings}}, .client = {.probe_pause = std::chrono::hours(1)}}});
  const auto service = environment.make_service();
  const auto produce = [&](const std::string& key) {
    return service->produce(produce_request(R"({"idempotencyKey":")" + key + R"(","connection":"silent",
                                                "target":{"queueName":"q"},"messages":[{"body":"x"}]})"),
                            {});
  };
  EXPECT_EQ(fault_of_answer(produce("first")), "UNREACHABLE");
  EXPECT_EQ(environment.attribute("PRODUCE#first", "status"), "FAILED");
  const auto refused = produce("second");
  EXPECT_EQ(fault_of_answer(refused), "EXHAUSTED");
  EXPECT_TRUE(refused.error().retry_after);
  EXPECT_FALSE(environment.record("PRODUCE#second")) << "nothing has begun";
  const auto consumed = service->consume(
      consume_request(R"({"idempotencyKey":"third","connection":"silent","target":{"queueName":"q"}})"), {});
  EXPECT_EQ(fault_of_answer(consumed), "EXHAUSTED");
  EXPECT_FALSE(environment.record("CONSUME#third"));
  EXPECT_EQ(silent.connections(), 1) << "nobody has asked again";
  EXPECT_EQ(fault_of_answer(service->produce(produce_request("k", 1), {})), "") << "the queues in the store";
}

TEST_F(ServiceTest, AMessageThatTheQueueRefusesIsNamed) {
  ProduceRequest request = produce_request("k", 4);
  request.messages[1].headers["colour"] = "red";
  const auto failed = service_->produce(request, {});
  EXPECT_EQ(fault_of_answer(failed), "INVALID_REQUEST");
  ASSERT_THAT(failed.error().fields, SizeIs(1));
  EXPECT_EQ(failed.error().fields[0].field, "messages[1]");
  EXPECT_THAT(failed.error().fields[0].rule, HasSubstr("unknown header 'colour'"));
}

TEST_F(ServiceTest, WithoutItsTableNothingIsExecuted) {
  store::UpdateTableRequest unprotected;
  unprotected.table_name = "mq-probe-idempotency";
  unprotected.deletion_protection = false;
  ASSERT_TRUE(environment_.store().engine().update_table(unprotected));
  ASSERT_TRUE(environment_.store().engine().delete_table("mq-probe-idempotency"));
  EXPECT_EQ(fault_of_answer(service_->produce(produce_request("k", 1), {})), "INTERNAL_ERROR");
  EXPECT_THAT(ids_in_queue(), IsEmpty());
}

TEST_F(ServiceTest, TheTableIsProtectedAgainstDeletion) {
  engine::Engine& engine = environment_.store().engine();
  EXPECT_FALSE(engine.delete_table("mq-probe-idempotency"));
  // That of an earlier version is not protected.
  store::UpdateTableRequest unprotected;
  unprotected.table_name = "mq-probe-idempotency";
  unprotected.deletion_protection = false;
  ASSERT_TRUE(engine.update_table(unprotected));
  ASSERT_TRUE(service_->prepare());
  EXPECT_FALSE(engine.delete_table("mq-probe-idempotency"));
}

TEST_F(ServiceTest, TheTableMayBeThereAlready) {
  EXPECT_TRUE(service_->prepare());
  const auto expiry = environment_.store().engine().describe_time_to_live("mq-probe-idempotency");
  ASSERT_TRUE(expiry);
  EXPECT_EQ(expiry->attribute_name, "ttl");
}

TEST_F(ServiceTest, TellsTheDepthOfAQueueAndWhoIsThere) {
  put(3);
  const auto depth = service_->depth({}, "q");
  ASSERT_TRUE(succeeded(depth));
  EXPECT_EQ(depth->ready, 3U);
  EXPECT_EQ(fault_of_answer(service_->depth({}, "")), "INVALID_REQUEST");
  EXPECT_EQ(fault_of_answer(service_->depth({.connection = "nowhere"}, "q")), "INVALID_REQUEST");
  const auto identity = service_->test({});
  ASSERT_TRUE(succeeded(identity));
  EXPECT_EQ(identity->endpoint, "table messages");
}

TEST_F(ServiceTest, CountsCallsAndMessagesByQueueAndResult) {
  ASSERT_TRUE(succeeded(service_->produce(produce_request("k", 7), {})));
  ASSERT_TRUE(succeeded(service_->produce(produce_request("k", 7), {})));
  EXPECT_FALSE(service_->produce(produce_request("k", 8), {}));
  ASSERT_TRUE(succeeded(service_->consume(consume_request("k", 3), {})));
  std::string text;
  service_->append_metrics(text);
  EXPECT_THAT(text, HasSubstr(R"(postino_messages_calls_total{operation="produce",queue="q",result="completed"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(postino_messages_calls_total{operation="produce",queue="q",result="replayed"} 1)"));
  EXPECT_THAT(text,
              HasSubstr(R"(postino_messages_calls_total{operation="produce",queue="q",result="OTHER_REQUEST"} 1)"));
  EXPECT_THAT(text,
              HasSubstr(R"(postino_messages_messages_total{operation="produce",queue="q",result="completed"} 7)"));
  EXPECT_THAT(text,
              HasSubstr(R"(postino_messages_messages_total{operation="consume",queue="q",result="completed"} 3)"));
  EXPECT_THAT(text, HasSubstr(R"(postino_messages_seconds_total{operation="consume",queue="q",result="completed"} )"));
}

}  // namespace
}  // namespace postino::messages
