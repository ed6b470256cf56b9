// The RabbitMQ that all tests of this program share, and what they do with it again and again.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker/amqp_client.h"
#include "net/certificates_testing.h"
#include "rabbitmq_server.h"

namespace postino::broker {

// Started when it is first asked for; call it on the main thread.
RabbitmqServer& rabbitmq();
// That issued its certificate, for localhost.
net::TestAuthority& authority();
AmqpClient& client();

// To the shared server, without TLS and with it.
ConnectionSettings plain_settings();
ConnectionSettings tls_settings();

// Ends the test program when the settings are refused.
std::unique_ptr<Broker> broker_with(const ConnectionSettings& settings);
std::unique_ptr<Broker> shared_broker();
// The same server. Its settings are others, so that it shares no connection with what is being tested.
std::unique_ptr<Broker> other_broker();

// Declares a queue that no other test uses.
std::string fresh_queue(std::string_view arguments = "");

// For a queue that has that many: waits for them, however busy the machine is.
ReceiveOptions at_least(std::size_t messages);

// Messages of a text, with the ids "<prefix>0", "<prefix>1" and so on.
Messages numbered(std::size_t count, const std::string& prefix = "message-");
// Takes and acknowledges everything in the queue, over a connection of its own (see drain_queue). Waits for the
// messages that are known to be there.
std::vector<Message> take_all(const std::string& queue, std::size_t known = 0);
std::vector<std::string> ids_of(const std::vector<Message>& messages);

// Expects success, and tells the failure otherwise.
template <class T>
::testing::AssertionResult succeeded(const Result<T>& answer) {
  if (answer) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << name_of(answer.error().kind) << ": " << answer.error().message;
}
::testing::AssertionResult is_complete(const ProduceReport& report);
// "" when there was no failure.
template <class T>
std::string kind_of(const Result<T>& answer) {
  return answer ? "" : std::string(name_of(answer.error().kind));
}
std::string kind_of(const ProduceReport& report);

}  // namespace postino::broker
