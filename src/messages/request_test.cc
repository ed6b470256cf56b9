// Requests as JSON says them, and everything that can be wrong with them.
#include "messages/request.h"

#include <gmock/gmock.h>

#include "base/hash.h"
#include "messages/iso_duration.h"

namespace postino::messages {
namespace {

using base::Milliseconds;
using broker::Format;
using json::FieldError;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<FieldError> faults_of_produce(const std::string& body, const std::string& header_key = "") {
  json::FieldErrors errors;
  const auto request = read_produce(body, header_key, errors);
  EXPECT_EQ(request.has_value(), errors.empty());
  return errors.list();
}

std::vector<FieldError> faults_of_consume(const std::string& body) {
  json::FieldErrors errors;
  const auto request = read_consume(body, "", errors);
  EXPECT_EQ(request.has_value(), errors.empty());
  return errors.list();
}

ProduceRequest produced(const std::string& body, const std::string& header_key = "") {
  json::FieldErrors errors;
  const auto request = read_produce(body, header_key, errors);
  for (const FieldError& error : errors.list()) ADD_FAILURE() << error.field << " " << error.rule;
  return request.value_or(ProduceRequest());
}

// With a valid rest.
std::string with_settings(const std::string& settings) {
  return R"({"idempotencyKey":"k","target":{"queueName":"q"},"messages":[{"body":"x"}],"settings":{)" + settings + "}}";
}
std::string with_message(const std::string& message) {
  return R"({"idempotencyKey":"k","target":{"queueName":"q"},"messages":[{"body":"x"},)" + message + "]}";
}
std::string with_place(const std::string& place) {
  return R"({"idempotencyKey":"k","target":{"queueName":"q"},"messages":[{"body":"x"}],)" + place + "}";
}

TEST(ProduceRequest, HasDefaults) {
  const ProduceRequest request = produced(R"({"idempotencyKey":"k","target":{"queueName":"q"},"messages":[
      {"body":"x"},{"body":"y"}]})");
  EXPECT_EQ(request.key, "k");
  EXPECT_EQ(request.queue, "q");
  EXPECT_EQ(request.place, Place());
  EXPECT_EQ(request.total, 2U);
  EXPECT_EQ(request.batch_size, 100U);
  EXPECT_EQ(request.concurrency, 1);
  EXPECT_EQ(request.delay, std::nullopt);
  EXPECT_EQ(request.time_to_live, std::nullopt);
  EXPECT_TRUE(request.persistent);
  ASSERT_THAT(request.messages, SizeIs(2));
  EXPECT_EQ(request.messages[0].format, Format::text);
}

TEST(ProduceRequest, TakesEverySetting) {
  const ProduceRequest request = produced(with_settings(
      R"("totalMessages":1000000,"batchSize":10000,"concurrency":16,"deliveryDelay":"P365D","timeToLive":"PT0.001S",)"
      R"("persistent":false)"));
  EXPECT_EQ(request.total, 1'000'000U);
  EXPECT_EQ(request.batch_size, 10'000U);
  EXPECT_EQ(request.concurrency, 16);
  EXPECT_EQ(request.delay, std::chrono::hours(24 * 365));
  EXPECT_EQ(request.time_to_live, Milliseconds(1));
  EXPECT_FALSE(request.persistent);
}

TEST(ProduceRequest, NamesTheSettingAndTheRule) {
  EXPECT_THAT(faults_of_produce(with_settings(R"("totalMessages":0)")),
              ElementsAre(FieldError{"settings.totalMessages", "must be an integer from 1 to 1000000"}));
  EXPECT_THAT(faults_of_produce(with_settings(R"("batchSize":10001)")),
              ElementsAre(FieldError{"settings.batchSize", "must be an integer from 1 to 10000"}));
  EXPECT_THAT(faults_of_produce(with_settings(R"("concurrency":"2")")),
              ElementsAre(FieldError{"settings.concurrency", "must be an integer from 1 to 16"}));
  EXPECT_THAT(faults_of_produce(with_settings(R"("deliveryDelay":"P366D")")),
              ElementsAre(FieldError{"settings.deliveryDelay", "must be from PT0S to PT8760H"}));
  EXPECT_THAT(faults_of_produce(with_settings(R"("timeToLive":"PT0S")")),
              ElementsAre(FieldError{"settings.timeToLive", "must be from PT0.001S to PT1176H"}));
  EXPECT_THAT(faults_of_produce(with_settings(R"("persistent":1)")),
              ElementsAre(FieldError{"settings.persistent", "must be true or false"}));
  EXPECT_THAT(faults_of_produce(with_settings(R"("batchsize":1)")),
              ElementsAre(FieldError{"settings.batchsize", "is an unknown field"}));
  EXPECT_THAT(faults_of_produce(with_settings(R"("maxMessages":1)")), SizeIs(1)) << "that is for consuming";
}

TEST(ProduceRequest, NeedsAKeyATargetAndMessages) {
  EXPECT_THAT(faults_of_produce("{}"),
              ElementsAre(FieldError{"idempotencyKey", "is required"}, FieldError{"target", "is required"},
                          FieldError{"messages", "is required"}));
  EXPECT_THAT(faults_of_produce(R"({"idempotencyKey":"k","target":{},"messages":[]})"),
              ElementsAre(FieldError{"target.queueName", "is required"},
                          FieldError{"messages", "must have at least one element"}));
  EXPECT_THAT(faults_of_produce("[]"), ::testing::Contains(FieldError{"", "must be an object"}));
  EXPECT_THAT(faults_of_produce("{"),
              ElementsAre(FieldError{"", "must be JSON; it ends too early, in line 1, column 2"}));
  EXPECT_THAT(faults_of_produce(R"({"idempotencyKey":"k","target":{"queueName":"a\nb"},"messages":[{"body":"x"}]})"),
              ElementsAre(FieldError{"target.queueName", "must have 1 to 255 bytes, and no control characters"}));
}

TEST(ProduceRequest, TheKeyMayComeWithTheHeaderAndMustThenBeTheSame) {
  const std::string without = R"({"target":{"queueName":"q"},"messages":[{"body":"x"}]})";
  const std::string with = R"({"idempotencyKey":"k","target":{"queueName":"q"},"messages":[{"body":"x"}]})";
  EXPECT_EQ(produced(without, "k").key, "k");
  EXPECT_EQ(produced(with, "k").key, "k");
  EXPECT_EQ(produced(without, "k").hash, produced(with).hash) << "it is the same request";
  EXPECT_NE(produced(without, "j").hash, produced(with).hash);
  EXPECT_THAT(faults_of_produce(with, "other"),
              ElementsAre(FieldError{"idempotencyKey", "must be the same as the header Idempotency-Key"}));
  for (const std::string& key : {std::string(), std::string(256, 'x'), std::string("ä"), std::string("a\\u0000")})
    EXPECT_THAT(faults_of_produce(R"({"idempotencyKey":")" + key +
                                  R"(","target":{"queueName":"q"},"messages":[{"body":"x"}]})"),
                ElementsAre(FieldError{"idempotencyKey", "must have 1 to 255 printable ASCII characters"}));
}

TEST(ProduceRequest, ReadsBodiesOfEveryFormat) {
  const auto messages = produced(R"({"idempotencyKey":"k","target":{"queueName":"q"},"messages":[
      {"body":"text"}, {"body":"{\"a\": 1}","format":"JSON"}, {"body":{"b":1, "a":[null, 2.50]}}, {"body":[1],"format":"JSON"},
      {"body":"AAH/","format":"BINARY"}, {"body":"","format":"TEXT"}, {"body":false,"format":"JSON"}]})")
                            .messages;
  ASSERT_THAT(messages, SizeIs(7));
  EXPECT_EQ(messages[1].body, "{\"a\": 1}") << "as it was written";
  EXPECT_EQ(messages[1].format, Format::json);
  EXPECT_EQ(messages[2].body, R"({"b":1,"a":[null,2.5]})");
  EXPECT_EQ(messages[2].format, Format::json);
  EXPECT_EQ(messages[3].body, "[1]");
  EXPECT_EQ(messages[4].body, std::string("\0\x01\xFF", 3));
  EXPECT_EQ(messages[4].format, Format::binary);
  EXPECT_EQ(messages[5].body, "");
  EXPECT_EQ(messages[6].body, "false");
}

TEST(ProduceRequest, NamesTheMessageAndTheRule) {
  EXPECT_THAT(faults_of_produce(with_message("{}")), ElementsAre(FieldError{"messages[1].body", "is required"}));
  EXPECT_THAT(faults_of_produce(with_message(R"({"body":"x","format":"XML"})")),
              ElementsAre(FieldError{"messages[1].format", "must be TEXT, JSON or BINARY"}));
  EXPECT_THAT(faults_of_produce(with_message(R"({"body":"{","format":"JSON"})")),
              ElementsAre(FieldError{"messages[1].body", "must be valid JSON, because its format is JSON"}));
  EXPECT_THAT(faults_of_produce(with_message(R"({"body":"?","format":"BINARY"})")),
              ElementsAre(FieldError{"messages[1].body", "must be base64, because its format is BINARY"}));
  EXPECT_THAT(faults_of_produce(with_message(R"({"body":1,"format":"TEXT"})")),
              ElementsAre(FieldError{"messages[1].body", "must be a string unless its format is JSON"}));
  EXPECT_THAT(faults_of_produce(with_message(R"({"body":"x","properties":{"p":[]}})")),
              ElementsAre(FieldError{"messages[1].properties.p", "must be a string, a number, true or false"}));
  EXPECT_THAT(faults_of_produce(with_message(R"({"body":"x","messageId":"mine"})")),
              ElementsAre(FieldError{"messages[1].messageId", "is an unknown field"}));
}

TEST(ProduceRequest, EmptyOptionalFieldsAreAsIfAbsent) {
  json::FieldErrors errors;
  const auto request = read_produce(
      R"({"idempotencyKey":"","connection":"","queueManager":"","target":{"queueName":"q","replyToQueue":""},
          "messages":[{"body":"","format":"","correlationId":"","contentType":""}],
          "settings":{"deliveryDelay":"","timeToLive":""}})",
      "of the header", errors);
  ASSERT_TRUE(request) << errors.list().front().field << " " << errors.list().front().rule;
  EXPECT_EQ(request->key, "of the header");
  EXPECT_EQ(request->place.connection, "");
  EXPECT_FALSE(request->place.queue_manager);
  EXPECT_EQ(request->reply_to, "");
  EXPECT_EQ(request->messages.at(0).format, Format::text);
  EXPECT_FALSE(request->delay);
  EXPECT_FALSE(request->time_to_live);
}

TEST(ProduceRequest, ReadsHeadersAndProperties) {
  const auto message =
      produced(
          with_message(
              R"({"body":"x","headers":{"priority":3,"durable":true},"properties":{"t":"x","i":-5,"d":0.5,"b":false},
          "correlationId":"c","contentType":"text/csv"})"))
          .messages.at(1);
  EXPECT_EQ(message.headers, (broker::Scalars{{"priority", std::int64_t{3}}, {"durable", true}}));
  EXPECT_EQ(message.properties, (broker::Scalars{{"t", "x"}, {"i", std::int64_t{-5}}, {"d", 0.5}, {"b", false}}));
  EXPECT_EQ(message.correlation_id, "c");
  EXPECT_EQ(message.content_type, "text/csv");
  EXPECT_EQ(message.id, "");
}

TEST(Place, IsAConnectionOrAQueueManager) {
  EXPECT_EQ(produced(with_place(R"("connection":"main")")).place.connection, "main");
  EXPECT_EQ(produced(with_place(R"("queueManager":"main")")).place.connection, "main");
  const Place place = produced(with_place(R"("queueManager":{"name":"QM1","channel":"DEV.APP","endpoints":[
      {"host":"a.example","port":5700},{"host":"b.example"}],"virtualHost":"vhost:x",
      "credentials":{"username":"u","password":"p"},"useTls":true,"cipherSuite":"TLS_AES_256_GCM_SHA384"})"))
                          .place;
  EXPECT_EQ(place, (Place{"", QueueManager{.name = "QM1",
                                           .channel = "DEV.APP",
                                           .endpoints = {{"a.example", 5700}, {"b.example", 5671}},
                                           .virtual_host = "vhost:x",
                                           .user = "u",
                                           .password = "p",
                                           .use_tls = true,
                                           .cipher_suite = "TLS_AES_256_GCM_SHA384"}}));
  EXPECT_EQ(
      produced(with_place(R"("queueManager":{"endpoints":[{"host":"a"}]})")).place.queue_manager->endpoints[0].port,
      5672);
}

TEST(Place, NamesTheFieldAndTheRule) {
  EXPECT_THAT(faults_of_produce(with_place(R"("connection":"a","queueManager":"b")")),
              ElementsAre(FieldError{"queueManager", "must not be given together with connection"}));
  EXPECT_THAT(faults_of_produce(with_place(R"("queueManager":5)")),
              ::testing::Contains(FieldError{"queueManager", "must be an object"}));
  EXPECT_THAT(faults_of_produce(with_place(R"("queueManager":{"endpoints":[]})")),
              ElementsAre(FieldError{"queueManager.endpoints", "must have at least one element"}));
  EXPECT_THAT(faults_of_produce(with_place(R"("queueManager":{"endpoints":[{"host":"a"},{"port":70000}]})")),
              ElementsAre(FieldError{"queueManager.endpoints[1].host", "is required"},
                          FieldError{"queueManager.endpoints[1].port", "must be an integer from 1 to 65535"}));
  EXPECT_THAT(faults_of_produce(with_place(R"("queueManager":{"endpoints":[{"host":"a"}],"cipherSuite":"x"})")),
              ElementsAre(FieldError{"queueManager.cipherSuite", "requires useTls"}));
  EXPECT_THAT(
      faults_of_produce(with_place(R"("queueManager":{"endpoints":[{"host":"a"}],"credentials":{"password":"x"}})")),
      ElementsAre(FieldError{"queueManager.credentials.username", "is required"}));
}

TEST(Place, IsReadAloneToo) {
  json::FieldErrors errors;
  EXPECT_EQ(read_place(R"({"connection":"main"})", errors), (Place{"main", std::nullopt}));
  EXPECT_EQ(read_place("{}", errors), Place());
  EXPECT_THAT(errors.list(), IsEmpty());
  EXPECT_FALSE(read_place(R"({"conection":"main"})", errors));
}

TEST(ConsumeRequest, HasDefaultsAndLimits) {
  json::FieldErrors errors;
  const auto plain =
      read_consume(R"({"idempotencyKey":"k","target":{"queueName":"q","replyToQueue":"r"}})", "", errors);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->max_messages, 1U);
  EXPECT_EQ(plain->wait, Milliseconds(0));
  EXPECT_TRUE(plain->auto_acknowledge);
  const auto full = read_consume(R"({"idempotencyKey":"k","target":{"queueName":"q"},"settings":{"maxMessages":10000,
      "waitTimeout":"PT5M","autoAcknowledge":false}})",
                                 "", errors);
  ASSERT_TRUE(full);
  EXPECT_EQ(full->max_messages, 10'000U);
  EXPECT_EQ(full->wait, std::chrono::minutes(5));
  EXPECT_FALSE(full->auto_acknowledge);
  EXPECT_THAT(faults_of_consume(R"({"idempotencyKey":"k","target":{"queueName":"q"},"settings":{"maxMessages":10001,
      "waitTimeout":"PT5M1S"},"messages":[]})"),
              ElementsAre(FieldError{"settings.maxMessages", "must be an integer from 1 to 10000"},
                          FieldError{"settings.waitTimeout", "must be from PT0S to PT5M"},
                          FieldError{"messages", "is an unknown field"}));
}

TEST(RequestHash, IsOfTheWholeRequestWhateverItsForm) {
  const std::string one = R"({"idempotencyKey":"k","target":{"queueName":"q"},"messages":[{"body":"x","properties":
      {"a":1,"b":2.0}}]})";
  const std::string same = R"( {"messages" : [{"properties":{"b":2,"a":1.0} , "body":"\u0078"}],
      "target":{"queueName":"q"},"idempotencyKey":"k"} )";
  EXPECT_EQ(produced(one).hash, produced(same).hash);
  EXPECT_EQ(
      produced(one).hash,
      base::to_hex(base::sha256(
          R"({"idempotencyKey":"k","messages":[{"body":"x","properties":{"a":1,"b":2}}],"target":{"queueName":"q"}})")));
  for (const char* const other :
       {R"({"idempotencyKey":"k","target":{"queueName":"q"},"messages":[{"body":"y","properties":{"a":1,"b":2}}]})",
        R"({"idempotencyKey":"k","target":{"queueName":"p"},"messages":[{"body":"x","properties":{"a":1,"b":2}}]})",
        R"({"idempotencyKey":"k","target":{"queueName":"q"},"messages":[{"body":"x","properties":{"a":1,"b":"2"}}]})"})
    EXPECT_NE(produced(other).hash, produced(one).hash);
  const auto with_password = [](const std::string& password) {
    return produced(
               with_place(R"("queueManager":{"endpoints":[{"host":"a"}],"credentials":{"username":"u","password":")" +
                          password + R"("}})"))
        .hash;
  };
  EXPECT_NE(with_password("a"), with_password("b"));
}

TEST(IsoDuration, IsReadAndWritten) {
  const std::pair<const char*, std::int64_t> cases[] = {{"PT0S", 0},
                                                        {"PT2.5S", 2'500},
                                                        {"PT1M", 60'000},
                                                        {"PT1H30M", 5'400'000},
                                                        {"P1D", 86'400'000},
                                                        {"P1DT12H", 129'600'000},
                                                        {"P2W", 1'209'600'000},
                                                        {"PT0.001S", 1},
                                                        {"PT0,25S", 250},
                                                        {"PT1.9999S", 1'999},
                                                        {"P1DT1H1M1.5S", 90'061'500},
                                                        {"PT90S", 90'000}};
  for (const auto& [text, count] : cases) {
    const auto duration = parse_duration(text);
    ASSERT_TRUE(duration) << text;
    EXPECT_EQ(duration->count(), count) << text;
  }
  for (const char* const text : {"",
                                 "P",
                                 "PT",
                                 "1S",
                                 "PT1",
                                 "PTS",
                                 "P1S",
                                 "PT1D",
                                 "P1Y",
                                 "P1M",
                                 "PT1.5M",
                                 "PT-1S",
                                 "-PT1S",
                                 "PT1S1M",
                                 "PT1S ",
                                 "PT1.S",
                                 "PT.5S",
                                 "P1DT",
                                 "PT1H1H",
                                 "PT99999999999999999999S",
                                 "PT1.1234567890S",
                                 "pt1s",
                                 "PT+1S"})
    EXPECT_FALSE(parse_duration(text)) << text;
  const std::pair<std::int64_t, const char*> written[] = {
      {0, "PT0S"},           {1, "PT0.001S"},     {2'500, "PT2.5S"},          {60'000, "PT1M"},
      {61'010, "PT1M1.01S"}, {3'600'000, "PT1H"}, {90'000'001, "PT25H0.001S"}};
  for (const auto& [count, text] : written) EXPECT_EQ(format_duration(Milliseconds(count)), text);
}

}  // namespace
}  // namespace postino::messages
