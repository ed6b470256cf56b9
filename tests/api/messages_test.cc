// Messages by the REST API, on queues in the store. What depends on a broker is tested with one, end to end.
#include "base/many_threads_testing.h"
#include "net/raw_server_testing.h"
#include "rest_fixture.h"

namespace postino::api {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string produce_body(const std::string& key, const std::string& more = "") {
  return R"({"idempotencyKey":")" + key + R"(","target":{"queueName":"q"},"messages":[{"body":"x"}])" + more + "}";
}
std::string consume_body(const std::string& key, const std::string& settings = "{}") {
  return R"({"idempotencyKey":")" + key + R"(","target":{"queueName":"q"},"settings":)" + settings + "}";
}

class RestMessages : public Rest {
 protected:
  Received produce(const std::string& body, Headers headers = {}) {
    return call("POST", "/messages/produce", body, std::move(headers));
  }
  Received consume(const std::string& body, Headers headers = {}) {
    return call("POST", "/messages/consume", body, std::move(headers));
  }
  std::int64_t depth() { return get("/messages/queues/q/depth").number("/depth"); }
};

TEST_F(RestMessages, AreProducedOnceAndConsumedOnce) {
  const Received first = produce(produce_body("k"));
  ASSERT_EQ(first.status(), 200) << first.response.body;
  EXPECT_EQ(first.response.content_type, "application/json");
  EXPECT_EQ(first.header("Idempotent-Replayed"), "");
  EXPECT_EQ(first.text("/operationType"), "PRODUCE");
  EXPECT_EQ(first.number("/processedMessages"), 1);
  const Received second = produce("  " + produce_body("k"));
  EXPECT_EQ(second.status(), 200);
  EXPECT_EQ(second.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(second.response.body, first.response.body);
  EXPECT_EQ(depth(), 1);

  const Received taken = consume(consume_body("k", R"({"maxMessages":5})"));
  ASSERT_EQ(taken.status(), 200) << taken.response.body;
  EXPECT_EQ(taken.size("/messages"), 1U);
  EXPECT_EQ(taken.text("/messages/0/body"), "x");
  EXPECT_EQ(depth(), 0);
  const Received again = consume(consume_body("k", R"({"maxMessages":5})"));
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(again.response.body, taken.response.body);
}

TEST_F(RestMessages, KeyComesInTheHeaderOrTheBodyOrBoth) {
  const std::string body = R"({"target":{"queueName":"q"},"messages":[{"body":"x"}]})";
  EXPECT_EQ(produce(body).text("/errors/0/field"), "idempotencyKey");
  EXPECT_EQ(produce(body, {{"Idempotency-Key", "k"}}).status(), 200);
  EXPECT_EQ(produce(produce_body("k"), {{"Idempotency-Key", "\"k\""}}).header("Idempotent-Replayed"), "true");
  const Received differs = produce(produce_body("k"), {{"Idempotency-Key", "l"}});
  EXPECT_EQ(differs.status(), 400);
  EXPECT_EQ(differs.text("/errors/0/rule"), "must be the same as the header Idempotency-Key");
  EXPECT_EQ(produce(produce_body("m"), {{"Idempotency-Key", ""}}).text("/errors/0/field"), "Idempotency-Key");
}

TEST_F(RestMessages, RecordLivesAsLongAsTheRequestSays) {
  ASSERT_EQ(produce(produce_body("k"), {{"Idempotency-Expiry-Seconds", "60"}}).status(), 200);
  clock().advance(std::chrono::seconds(59));
  EXPECT_EQ(produce(produce_body("k")).header("Idempotent-Replayed"), "true");
  clock().advance(std::chrono::seconds(2));
  EXPECT_EQ(produce(produce_body("k")).header("Idempotent-Replayed"), "");
  EXPECT_EQ(depth(), 2);
  EXPECT_EQ(produce(produce_body("k"), {{"Idempotency-Expiry-Seconds", "0"}}).text("/errors/0/field"),
            "Idempotency-Expiry-Seconds");
  ASSERT_EQ(produce(produce_body("short"), {{"Idempotency-Expiry-Seconds", "1"}}).status(), 200);
  clock().advance(std::chrono::seconds(1));
  EXPECT_EQ(produce(produce_body("short")).header("Idempotent-Replayed"), "");
}

TEST_F(RestMessages, KeyAtWorkIsAConflictAndAnotherRequestIsRefused) {
  ASSERT_TRUE(guard_.begin("PRODUCE", "k", "another hash"));
  const Received other = produce(produce_body("k"));
  EXPECT_EQ(other.status(), 422);
  EXPECT_EQ(other.code(), "IDEMPOTENCY_KEY_REUSED");
  EXPECT_EQ(consume(consume_body("k")).status(), 200) << "it has keys of its own";
  const std::string hash = messages::read_produce(produce_body("l"), "", *std::make_unique<json::FieldErrors>())->hash;
  ASSERT_TRUE(guard_.begin("PRODUCE", "l", hash));
  const Received conflict = produce(produce_body("l"));
  EXPECT_EQ(conflict.status(), 409);
  EXPECT_EQ(conflict.code(), "IDEMPOTENCY_KEY_IN_PROGRESS");
  EXPECT_EQ(conflict.header("Retry-After"), "1");
  clock().advance(std::chrono::seconds(31));
  EXPECT_EQ(produce(produce_body("l")).status(), 200) << "its process is dead";
}

TEST_F(RestMessages, EveryBrokenRuleIsNamed) {
  const Received answer = produce(R"({"idempotencyKey":"k","target":{},"messages":[{"format":"XML"}],"more":1})");
  EXPECT_EQ(answer.status(), 400);
  EXPECT_EQ(answer.code(), "INVALID_REQUEST");
  EXPECT_THAT(answer.response.body,
              AllOf(HasSubstr(R"("field":"target.queueName")"), HasSubstr(R"("field":"messages[0].format")"),
                    HasSubstr(R"("field":"messages[0].body")"), HasSubstr(R"("field":"more")")));
  EXPECT_EQ(produce("{").code(), "MALFORMED_JSON");
  EXPECT_EQ(produce(produce_body("k", R"(,"connection":"nowhere")")).text("/errors/0/field"), "connection");
  EXPECT_EQ(get("/messages/queues/q/depth?connection=nowhere").text("/errors/0/field"), "connection");
  EXPECT_EQ(get("/messages/queues/" + std::string(300, 'q') + "/depth").status(), 400);
}

TEST_F(RestMessages, BrokerThatCannotBeReachedIsTold) {
  const std::string manager = R"({"queueManager":{"endpoints":[{"host":"127.0.0.1","port":1}]}})";
  const Received answer = call("POST", "/messages/connections/test", manager);
  EXPECT_EQ(answer.status(), 502);
  EXPECT_EQ(answer.code(), "BROKER_UNREACHABLE");
  EXPECT_EQ(answer.text("/endpoints/0/endpoint"), "127.0.0.1:1");
  EXPECT_THAT(answer.text("/endpoints/0/reason"), HasSubstr("refused"));
  const std::string elsewhere = R"({"queueManager":{"endpoints":[{"host":"192.0.2.1"}]}})";
  EXPECT_EQ(call("POST", "/messages/connections/test", elsewhere).text("/errors/0/field"),
            "queueManager.endpoints[0].host");
}

// A broker that takes connections and never says a word, for longer than any test.
class RestSilentBroker : public RestMessages {
 protected:
  RestSilentBroker() {
    api_.reset();
    messages_.reset();
    broker::ConnectionSettings settings;
    settings.endpoints = {{"127.0.0.1", black_hole_.port()}};
    settings.connect_timeout = settings.answer_timeout = std::chrono::hours(1);
    auto queues =
        std::make_shared<messages::StoreQueue>(store(), clock(), random_, retry_, messages::StoreQueueOptions{});
    connections_ = messages::Connections::create({.named = {{"silent", settings}}}, std::move(queues)).value();
    messages_ = std::make_unique<messages::MessageService>(store(), *connections_, clock(), random_, retry_,
                                                           messages::ServiceOptions{});
    ApiOptions options;
    options.waiting_threads = options.receiving_threads = 8;
    options.max_waiting = 64;
    start(std::move(options));
  }
  ~RestSilentBroker() override { connections_->break_off(); }

  // Many ask at the same time. Two may wait for the broker and four for these; all others are answered at once.
  void check_refusals(const std::string& path, const std::function<std::string(const std::string& key)>& body) {
    constexpr int callers = 40;
    constexpr int may_wait = 6;
    for (int i = 0; i < callers; ++i)
      calls_.push_back(begin("POST", path, body(std::to_string(i)), {{"Content-Type", "application/json"}}));
    const auto is_answered = [](const std::future<http::Response>& call) {
      return call.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    };
    ASSERT_TRUE(base::eventually([&] { return std::ranges::count_if(calls_, is_answered) >= callers - may_wait; }));
    EXPECT_EQ(std::ranges::count_if(calls_, is_answered), callers - may_wait);
    for (std::future<http::Response>& call : calls_) {
      if (!is_answered(call)) continue;
      const Received answer(call.get());
      EXPECT_EQ(answer.status(), 503) << answer.response.body;
      EXPECT_EQ(answer.code(), "OVERLOADED");
      EXPECT_EQ(answer.header("Retry-After"), "1");
    }
  }
  // While the others wait.
  void check_embedded() {
    for (const auto& [path, body] :
         {std::pair{"/messages/produce", produce_body("k")}, {"/messages/consume", consume_body("k")}}) {
      auto answer = begin("POST", path, body, {{"Content-Type", "application/json"}});
      ASSERT_EQ(answer.wait_for(base::test_patience), std::future_status::ready);
      EXPECT_EQ(answer.get().status, 200) << path;
    }
  }

  net::RawServer black_hole_{[](net::RawPeer& peer) { peer.wait_for_end(); }};
  std::vector<std::future<http::Response>> calls_;
};

TEST_F(RestSilentBroker, ProducersLeaveThreadsToTheQueuesInTheStore) {
  check_refusals("/messages/produce",
                 [](const std::string& key) { return produce_body(key, R"(,"connection":"silent")"); });
  check_embedded();
}

TEST_F(RestSilentBroker, ConsumersLeaveThreadsToTheQueuesInTheStore) {
  check_refusals("/messages/consume", [](const std::string& key) {
    return R"({"idempotencyKey":")" + key + R"(","connection":"silent","target":{"queueName":"q"}})";
  });
  check_embedded();
}

TEST_F(RestMessages, ConnectionOfTheConfigurationIsTested) {
  EXPECT_EQ(call("POST", "/messages/connections/test", "{}").status(), 200);
  EXPECT_EQ(call("POST", "/messages/connections/test", R"({"connection":"embedded"})").status(), 200);
  EXPECT_EQ(call("POST", "/messages/connections/test", R"({"connection":"nowhere"})").status(), 400);
}

TEST_F(RestMessages, RolesAreEnforced) {
  start_with_keys({"r:reader:secret-of-reader", "s:sender:secret-of-sender", "o:operator:secret-of-operator"});
  const Headers reader{{"X-API-Key", "secret-of-reader"}};
  const Headers sender{{"X-API-Key", "secret-of-sender"}};
  const Headers operator_key{{"X-API-Key", "secret-of-operator"}};
  EXPECT_EQ(produce(produce_body("k"), reader).status(), 403);
  EXPECT_EQ(consume(consume_body("k"), reader).status(), 403);
  EXPECT_EQ(get("/messages/queues/q/depth", reader).status(), 200);
  EXPECT_EQ(produce(produce_body("k"), sender).status(), 200);
  EXPECT_EQ(consume(consume_body("k"), sender).status(), 200);
  EXPECT_EQ(call("POST", "/messages/connections/test", "{}", sender).status(), 403);
  EXPECT_EQ(call("POST", "/messages/connections/test", "{}", operator_key).status(), 200);
}

TEST_F(RestMessages, KeysOfTenantsDoNotMeet) {
  start_with_keys(
      {"a:sender@acme:secret-of-tenant-a", "b:sender@bolt:secret-of-tenant-b", "s:sender:secret-of-sender"});
  for (const char* secret : {"secret-of-tenant-a", "secret-of-tenant-b", "secret-of-sender"}) {
    const Headers key{{"X-API-Key", secret}};
    EXPECT_EQ(produce(produce_body("k"), key).header("Idempotent-Replayed"), "") << secret;
    EXPECT_EQ(produce(produce_body("k"), key).header("Idempotent-Replayed"), "true") << secret;
  }
}

}  // namespace
}  // namespace postino::api
