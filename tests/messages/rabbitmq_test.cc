// The same contract, and the main ways of the service, with a real RabbitMQ.
#include <gmock/gmock.h>

#include <map>
#include <regex>

#include "base/check.h"
#include "base/many_threads_testing.h"
#include "broker/amqp_client.h"
#include "broker_conformance.h"
#include "queue_contents.h"
#include "rabbitmq_server.h"
#include "service_environment.h"

namespace postino::messages {
namespace {

using broker::AmqpClient;
using broker::ConnectionSettings;
using broker::RabbitmqServer;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr seconds long_enough = base::test_patience;

std::unique_ptr<RabbitmqServer> shared_server;

class EndOfServer : public ::testing::Environment {
  void TearDown() override { shared_server.reset(); }
};
const auto* const environment = ::testing::AddGlobalTestEnvironment(new EndOfServer);

RabbitmqServer& rabbitmq() {
  if (!shared_server) shared_server = std::make_unique<RabbitmqServer>();
  return *shared_server;
}

ConnectionSettings settings() {
  ConnectionSettings settings;
  settings.endpoints = {{"127.0.0.1", rabbitmq().port()}};
  settings.user = RabbitmqServer::user;
  settings.password = RabbitmqServer::password;
  settings.answer_timeout = settings.connect_timeout = long_enough;
  return settings;
}

AmqpClient& client() {
  static const auto made = AmqpClient::create({});
  CHECK(made);
  return **made;
}

std::unique_ptr<broker::Broker> connect(ConnectionSettings with) {
  auto broker = client().broker(with);
  CHECK(broker);
  return *std::move(broker);
}

class RabbitmqUnderTest final : public BrokerUnderTest {
 public:
  std::unique_ptr<broker::Broker> connect() override {
    // Different settings, so that no connections are shared.
    ConnectionSettings own = settings();
    own.idle_timeout += std::chrono::milliseconds(++connections_);
    return messages::connect(own);
  }
  Queues fresh_queues() override {
    static int number = 0;
    const std::string name = "conformance-" + std::to_string(++number);
    rabbitmq().declare(name + ".dead");
    rabbitmq().declare(name, R"("x-dead-letter-exchange":"","x-dead-letter-routing-key":")" + name + ".dead\"");
    return {name, name + ".dead"};
  }
  void declare(const std::string& queue) override { rabbitmq().declare(queue); }

 private:
  int connections_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Rabbitmq, BrokerConformance,
                         ::testing::Values(BrokerChoice{"Rabbitmq",
                                                        [] { return std::make_unique<RabbitmqUnderTest>(); }}),
                         name_of_choice);

class RabbitmqServiceTest : public ::testing::Test {
 protected:
  RabbitmqServiceTest() {
    static int number = 0;
    queue_ = "service-" + std::to_string(++number);
    rabbitmq().declare(queue_);
  }

  static EnvironmentOptions environment_options() {
    EnvironmentOptions options;
    options.connections.named.emplace("rabbit", settings());
    options.connections.default_name = "rabbit";
    options.connections.allowed_hosts = loopback_hosts();
    return options;
  }
  ProduceRequest produce(const std::string& key, std::size_t total, std::size_t batch) const {
    ProduceRequest request = produce_request(key, total, batch);
    request.queue = queue_;
    return request;
  }
  ConsumeRequest consume(const std::string& key, std::size_t most) const {
    ConsumeRequest request = consume_request(key, most);
    request.queue = queue_;
    request.wait = long_enough;
    return request;
  }
  // The queue has at least so many messages. It is empty afterwards.
  std::map<std::string, int> ids_in_queue(std::size_t known) {
    std::map<std::string, int> counts;
    ConnectionSettings own = settings();
    own.idle_timeout += std::chrono::milliseconds(77);
    for (const std::string& id : ids_of(drain_queue(*connect(own), queue_, known))) ++counts[id];
    return counts;
  }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  std::string queue_;
  ServiceEnvironment environment_{clock_, environment_options()};
  const std::unique_ptr<MessageService> service_ = environment_.make_service();
};

TEST_F(RabbitmqServiceTest, ProducesAndConsumesOnce) {
  const auto produced = service_->produce(produce("k", 300, 50), {});
  ASSERT_TRUE(succeeded(produced));
  EXPECT_TRUE(service_->produce(produce("k", 300, 50), {})->replayed);
  const auto consumed = service_->consume(consume("k", 100), {});
  ASSERT_TRUE(succeeded(consumed));
  EXPECT_EQ(consumed->processed, 100U);
  const auto again = service_->consume(consume("k", 100), {});
  ASSERT_TRUE(succeeded(again));
  EXPECT_EQ(again->body, consumed->body);
  const auto ids = ids_in_queue(200);
  EXPECT_THAT(ids, SizeIs(200));
  for (const auto& [id, count] : ids) EXPECT_EQ(count, 1) << id;
}

TEST_F(RabbitmqServiceTest, SaysThatThereIsNoSuchQueue) {
  ProduceRequest request = produce("k", 1, 1);
  request.queue = "nowhere";
  EXPECT_EQ(fault_of_answer(service_->produce(request, {})), "NO_SUCH_QUEUE");
  ConsumeRequest other = consume("k", 1);
  other.queue = "nowhere";
  EXPECT_EQ(fault_of_answer(service_->consume(other, {})), "NO_SUCH_QUEUE");
  EXPECT_EQ(environment_.attribute("CONSUME#k", "status"), "FAILED");
}

TEST_F(RabbitmqServiceTest, ARequestMayDescribeItsBroker) {
  const std::string manager = R"("queueManager":{"name":"QM1","channel":"A","endpoints":[{"host":"127.0.0.1","port":1},
      {"host":"127.0.0.1","port":)" +
                              std::to_string(rabbitmq().port()) +
                              R"(}],"credentials":{"username":"guest","password":"guest"}})";
  const auto produced =
      service_->produce(produce_request(R"({"idempotencyKey":"k",)" + manager + R"(,"target":{"queueName":")" + queue_ +
                                        R"("},"messages":[{"body":"x"}]})"),
                        {});
  ASSERT_TRUE(succeeded(produced));
  EXPECT_THAT(produced->body, HasSubstr(R"("connection":"QM1")"));
  EXPECT_THAT(ids_in_queue(1), SizeIs(1));
  json::FieldErrors errors;
  const auto place = read_place("{" + manager + "}", errors);
  ASSERT_TRUE(place);
  const auto identity = service_->test(*place);
  ASSERT_TRUE(succeeded(identity));
  EXPECT_EQ(identity->product, "RabbitMQ");
}

TEST_F(RabbitmqServiceTest, DiesInTheMiddleOfProducingAndGoesOn) {
  const auto dying =
      environment_.make_service([count = 0](Step step) mutable { return step != Step::progressed || ++count < 5; });
  EXPECT_FALSE(dying->produce(produce("k", 2'000, 50), {}));
  const std::string progress = environment_.attribute("PRODUCE#k", "progress");
  EXPECT_NE(progress, "");
  clock_->advance(seconds(30));
  const auto reply = service_->produce(produce("k", 2'000, 50), {});
  ASSERT_TRUE(succeeded(reply));
  EXPECT_THAT(reply->body, HasSubstr("\"resumedFrom\":" + progress + ","));
  const auto ids = ids_in_queue(2'000);
  EXPECT_THAT(ids, SizeIs(2'000));
  int doubled = 0;
  for (const auto& [id, count] : ids) doubled += count - 1;
  EXPECT_LE(doubled, 50) << "what was on its way when it died";
}

TEST_F(RabbitmqServiceTest, DiesBeforeTheAcknowledgementAndSettlesWhatComesAgain) {
  ASSERT_TRUE(succeeded(service_->produce(produce("k", 5, 10), {})));
  const auto dying = environment_.make_service([](Step step) { return step != Step::completed; });
  EXPECT_FALSE(dying->consume(consume("k", 3), {}));
  {
    // The broker learns a moment later that the dead one is gone.
    const auto held =
        connect(settings())->receive(queue_, {.max_messages = 5, .wait = long_enough, .linger = long_enough});
    ASSERT_TRUE(succeeded(held));
    ASSERT_THAT((*held)->messages(), SizeIs(5));
    ASSERT_TRUE(succeeded((*held)->release()));
  }
  clock_->advance(seconds(30));
  const auto reply = service_->consume(consume("k", 3), {});
  ASSERT_TRUE(succeeded(reply));
  EXPECT_TRUE(reply->replayed);
  EXPECT_THAT(reply->body, HasSubstr(R"("processedMessages":3)"));
  const auto left = ids_in_queue(2);
  EXPECT_THAT(left, SizeIs(2));
  for (const auto& [id, count] : left) EXPECT_THAT(reply->body, ::testing::Not(HasSubstr(id)));
}

TEST_F(RabbitmqServiceTest, TheBrokerIsRestartedInTheMiddle) {
  bool restarted = false;
  const auto service = environment_.make_service([&](Step step) {
    if (step == Step::progressed && !std::exchange(restarted, true)) rabbitmq().restart();
    return true;
  });
  constexpr int window = 50;
  auto reply = service->produce(produce("k", 1'000, window), {});
  // It reconnects by itself, or the call is repeated.
  const int unknown = reply ? 0 : window;
  if (!reply) reply = service->produce(produce("k", 1'000, window), {});
  ASSERT_TRUE(succeeded(reply));
  std::smatch sent_again;
  ASSERT_TRUE(std::regex_search(reply->body, sent_again, std::regex(R"re("sentAgain":(\d+))re"))) << reply->body;
  const auto ids = ids_in_queue(1'000);
  EXPECT_THAT(ids, SizeIs(1'000));
  int doubled = 0;
  for (const auto& [id, count] : ids) doubled += count - 1;
  EXPECT_LE(doubled, unknown + std::stoi(sent_again[1]));
}

}  // namespace
}  // namespace postino::messages
