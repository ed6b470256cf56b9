#include "shared_server.h"

#include "base/check.h"
#include "base/many_threads_testing.h"
#include "queue_contents.h"

namespace postino::broker {

namespace {

struct Shared {
  base::TemporaryDirectory directory;
  net::TestAuthority authority{directory.path()};
  net::TlsFiles certificate = authority.issue("DNS:localhost");
  RabbitmqServer server{{.authorities_file = authority.certificate_file(),
                         .certificate_file = certificate.certificate_chain,
                         .key_file = certificate.private_key}};
};

std::unique_ptr<Shared> shared;

class EndOfShared : public ::testing::Environment {
  void TearDown() override { shared.reset(); }
};

const auto* const environment = ::testing::AddGlobalTestEnvironment(new EndOfShared);

Shared& get_shared() {
  if (!shared) shared = std::make_unique<Shared>();
  return *shared;
}

}  // namespace

RabbitmqServer& rabbitmq() { return get_shared().server; }
net::TestAuthority& authority() { return get_shared().authority; }

AmqpClient& client() {
  static const auto made = AmqpClient::create({});
  CHECK(made);
  return **made;
}

ConnectionSettings plain_settings() {
  ConnectionSettings settings;
  settings.endpoints = {{"127.0.0.1", rabbitmq().port()}};
  settings.user = RabbitmqServer::user;
  settings.password = RabbitmqServer::password;
  settings.answer_timeout = settings.connect_timeout = base::test_patience;
  return settings;
}

ConnectionSettings tls_settings() {
  ConnectionSettings settings = plain_settings();
  settings.endpoints = {{"localhost", rabbitmq().tls_port()}};
  settings.tls.enabled = true;
  settings.tls.authorities_file = authority().certificate_file();
  return settings;
}

std::unique_ptr<Broker> broker_with(const ConnectionSettings& settings) {
  auto broker = client().broker(settings);
  if (!broker) std::fprintf(stderr, "%s\n", broker.error().message.c_str());
  CHECK(broker);
  return *std::move(broker);
}

std::unique_ptr<Broker> shared_broker() { return broker_with(plain_settings()); }

std::string fresh_queue(std::string_view arguments) {
  static int number = 0;
  std::string name = "queue-" + std::to_string(++number);
  rabbitmq().declare(name, arguments);
  return name;
}

Messages numbered(std::size_t count, const std::string& prefix) {
  return {count, [prefix](std::size_t position) {
            Message message;
            message.id = prefix + std::to_string(position);
            message.body = "This is the message at position " + std::to_string(position);
            return message;
          }};
}

ReceiveOptions at_least(std::size_t messages) {
  return {.max_messages = messages, .wait = base::test_patience, .linger = base::test_patience};
}

std::unique_ptr<Broker> other_broker() {
  ConnectionSettings settings = plain_settings();
  settings.idle_timeout += std::chrono::milliseconds(1);
  return broker_with(settings);
}

std::vector<Message> take_all(const std::string& queue, std::size_t known) {
  return drain_queue(*other_broker(), queue, known);
}

std::vector<std::string> ids_of(const std::vector<Message>& messages) {
  std::vector<std::string> ids;
  for (const Message& message : messages) ids.push_back(message.id);
  return ids;
}

::testing::AssertionResult is_complete(const ProduceReport& report) {
  if (report.complete()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << kind_of(report) << ": " << (report.failure ? report.failure->message : "");
}

std::string kind_of(const ProduceReport& report) {
  return report.failure ? std::string(name_of(report.failure->kind)) : "";
}

}  // namespace postino::broker
