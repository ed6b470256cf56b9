// What is put in comes out again.
#include <gmock/gmock.h>

#include "base/many_threads_testing.h"
#include "queue_contents.h"
#include "shared_server.h"

namespace postino::broker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Message only_message(const std::string& queue) {
  const auto messages = take_all(queue, 1);
  EXPECT_THAT(messages, SizeIs(1));
  return messages.empty() ? Message() : messages.front();
}

Message round_trip(const Message& message, ProduceOptions options = {},
                   const ConnectionSettings& settings = plain_settings()) {
  const std::string queue = fresh_queue();
  EXPECT_TRUE(is_complete(broker_with(settings)->produce(queue, Messages::of({message}), options)));
  return only_message(queue);
}

TEST(RoundTrip, KeepsTextJsonAndBytes) {
  const std::string bytes("\0\xFF\xFE binary \r\n", 12);
  const Message text = round_trip({.id = "1", .body = "Grüße, 世界", .format = Format::text});
  EXPECT_EQ(text.body, "Grüße, 世界");
  EXPECT_EQ(text.format, Format::text);
  EXPECT_EQ(text.content_type, "text/plain");
  const Message json = round_trip({.id = "2", .body = R"({"a":[1,2.5,null]})", .format = Format::json});
  EXPECT_EQ(json.body, R"({"a":[1,2.5,null]})");
  EXPECT_EQ(json.format, Format::json);
  EXPECT_EQ(json.content_type, "application/json");
  const Message binary = round_trip({.id = "3", .body = bytes, .format = Format::binary});
  EXPECT_EQ(binary.body, bytes);
  EXPECT_EQ(binary.format, Format::binary);
  EXPECT_EQ(binary.content_type, "application/octet-stream");
}

TEST(RoundTrip, KeepsTextsAsStringsOfAmqpToo) {
  ConnectionSettings settings = plain_settings();
  settings.text_as_value = true;
  const Message text = round_trip({.id = "1", .body = "hello", .format = Format::text}, {}, settings);
  EXPECT_EQ(text.body, "hello");
  EXPECT_EQ(text.format, Format::text);
  const Message json = round_trip({.id = "2", .body = "{}", .format = Format::json}, {}, settings);
  EXPECT_EQ(json.body, "{}");
  EXPECT_EQ(json.format, Format::json);
}

TEST(RoundTrip, KeepsAnEmptyBodyAndALargeOne) {
  EXPECT_EQ(round_trip({.id = "1", .body = "", .format = Format::binary}).body, "");
  std::string large(3'000'000, 'x');
  for (std::size_t i = 0; i < large.size(); i += 1000) large[i] = static_cast<char>(i / 1000);
  EXPECT_EQ(round_trip({.id = "2", .body = large, .format = Format::binary}).body, large);
}

TEST(RoundTrip, KeepsEveryHeaderAndProperty) {
  Message message;
  message.id = "id-1";
  message.body = "x";
  message.correlation_id = "correlation-1";
  message.reply_to = "/amq/queue/answers";
  message.content_type = "text/csv";
  message.created_at = base::from_epoch_milliseconds(1'800'000'000'123);
  message.headers = {{"durable", true},
                     {"priority", std::int64_t{7}},
                     {"ttl", std::int64_t{600'000}},
                     {"subject", "news"},
                     {"to", "somebody"},
                     {"user-id", "guest"},
                     {"content-encoding", "identity"},
                     {"absolute-expiry-time", "2035-01-02T03:04:05.678Z"},
                     {"group-id", "group"},
                     {"group-sequence", std::int64_t{4'000'000'000}},
                     {"reply-to-group-id", "other group"},
                     {"x-opt-text", "an annotation"},
                     {"x-opt-number", std::int64_t{-5}}};
  message.properties = {{"text", "Ünïcode"},
                        {"empty", ""},
                        {"smallest", std::numeric_limits<std::int64_t>::min()},
                        {"largest", std::numeric_limits<std::int64_t>::max()},
                        {"yes", true},
                        {"no", false},
                        {"pi", 3.141592653589793},
                        {"odd name / with ünïcode", std::int64_t{1}}};
  Message expected = message;
  expected.headers["first-acquirer"] = true;
  expected.headers["delivery-count"] = std::int64_t{0};
  EXPECT_EQ(round_trip(message), expected);
}

TEST(RoundTrip, GivesUsualHeadersToAMessageWithoutAny) {
  const Message plain = round_trip({.id = "", .body = "x"});
  EXPECT_EQ(plain.id, "");
  EXPECT_EQ(plain.headers, (Scalars{{"durable", true},
                                    {"priority", std::int64_t{4}},
                                    {"first-acquirer", true},
                                    {"delivery-count", std::int64_t{0}}}));
  EXPECT_THAT(plain.properties, IsEmpty());
  EXPECT_EQ(plain.fault, "");
}

TEST(RoundTrip, TakesPersistenceAndTimeToLiveFromTheCallUnlessTheMessageHasItsOwn) {
  ProduceOptions options{.persistent = false, .time_to_live = Milliseconds(500'000)};
  const Message from_call = round_trip({.id = "1", .body = "x"}, options);
  EXPECT_EQ(from_call.headers.at("durable"), Scalar(false));
  EXPECT_EQ(from_call.headers.at("ttl"), Scalar(std::int64_t{500'000}));
  const Message own =
      round_trip({.id = "2", .body = "x", .headers = {{"durable", true}, {"ttl", std::int64_t{400'000}}}}, options);
  EXPECT_EQ(own.headers.at("durable"), Scalar(true));
  EXPECT_EQ(own.headers.at("ttl"), Scalar(std::int64_t{400'000}));
}

TEST(RoundTrip, LosesAMessageWhoseTimeIsOver) {
  const std::string queue = fresh_queue();
  ASSERT_TRUE(is_complete(shared_broker()->produce(queue, numbered(1), {.time_to_live = Milliseconds(1)})));
  const auto other = other_broker();
  EXPECT_TRUE(base::eventually([&] { return is_empty(*other, queue); }));
}

TEST(RoundTrip, KeepsTheOrderOfOneConnection) {
  const std::string queue = fresh_queue();
  ASSERT_TRUE(is_complete(shared_broker()->produce(queue, numbered(500), {.window = 50})));
  const auto messages = take_all(queue, 500);
  ASSERT_THAT(messages, SizeIs(500));
  for (std::size_t i = 0; i < messages.size(); ++i) EXPECT_EQ(messages[i].id, "message-" + std::to_string(i));
}

TEST(RoundTrip, ReachesQueuesWithOddNames) {
  for (const char* const name : {"with spaces", "a/b/c", "/leading", "münchen-東京", "per%cent%20", "q?a=b#c&d",
                                 "\"quoted\\\"", "*", "{braces}"}) {
    SCOPED_TRACE(name);
    rabbitmq().declare(name);
    ASSERT_TRUE(is_complete(shared_broker()->produce(name, numbered(2), {})));
    EXPECT_THAT(ids_of(take_all(name, 2)), ElementsAre("message-0", "message-1"));
  }
}

TEST(RoundTrip, ReachesQuorumQueues) {
  const std::string queue = fresh_queue(R"("x-queue-type":"quorum")");
  ASSERT_TRUE(is_complete(shared_broker()->produce(queue, numbered(1'200), {.window = 300})));
  EXPECT_THAT(take_all(queue, 1'200), SizeIs(1'200));
  EXPECT_THAT(take_all(queue), IsEmpty());
}

TEST(RoundTrip, MakesADurableQueueWhenToldTo) {
  ConnectionSettings settings = plain_settings();
  settings.address_style = AddressStyle::rabbitmq_declare;
  const auto broker = broker_with(settings);
  ASSERT_TRUE(is_complete(broker->produce("made by a sender", numbered(1), {})));
  EXPECT_THAT(rabbitmq().describe("made by a sender"), ::testing::HasSubstr(R"("durable":true)"));
  EXPECT_THAT(take_all("made by a sender", 1), SizeIs(1));
  ASSERT_TRUE(succeeded(broker->receive("made by a receiver", {})));
  EXPECT_THAT(rabbitmq().describe("made by a receiver"), ::testing::HasSubstr(R"("durable":true)"));
}

TEST(RoundTrip, RefusesMessagesThatBreakARule) {
  const std::string queue = fresh_queue();
  const auto broker = shared_broker();
  const std::pair<Message, std::string> cases[] = {
      {{.headers = {{"colour", "red"}}}, "unknown header 'colour'"},
      {{.headers = {{"priority", std::int64_t{256}}}}, "priority must be an integer from 0 to 255"},
      {{.headers = {{"priority", "high"}}}, "priority must be an integer"},
      {{.headers = {{"ttl", std::int64_t{0}}}}, "ttl must be an integer from 1"},
      {{.headers = {{"durable", "yes"}}}, "durable must be true or false"},
      {{.headers = {{"subject", std::int64_t{1}}}}, "subject must be a string"},
      {{.headers = {{"absolute-expiry-time", "tomorrow"}}}, "absolute-expiry-time"},
      {{.id = std::string(256, 'x')}, "message id must not be longer than 255 bytes"},
      {{.body = "\xFF"}, "body must be UTF-8"},
      {{.properties = {{"", true}}}, "name of a property"},
      {{.properties = {{"a", "\xC3"}}}, "must be UTF-8"},
  };
  for (const auto& [message, rule] : cases) {
    const ProduceReport report = broker->produce(queue, Messages::of({message}), {});
    EXPECT_EQ(kind_of(report), "invalid") << rule;
    ASSERT_TRUE(report.failure);
    EXPECT_THAT(report.failure->message, ::testing::HasSubstr(rule));
  }
  EXPECT_THAT(take_all(queue), IsEmpty());
}

}  // namespace
}  // namespace postino::broker
