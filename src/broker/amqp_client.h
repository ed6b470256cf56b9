// The client of brokers that speak AMQP 1.0: RabbitMQ, ActiveMQ, Artemis, Azure Service Bus, IBM MQ's AMQP channel.
//
// One thread does the input and output of all connections. A connection is used by one call at a time and kept for the
// next call with the same settings. No exception leaves it.
#pragma once

#include <chrono>
#include <memory>

#include "broker/broker.h"
#include "broker/connection/circuit_breaker.h"
#include "broker/connection/connection_settings.h"

namespace postino::broker {

struct AmqpClientOptions {
  std::size_t max_connections = 256;  // in all; a call that would need more is refused as exhausted
  std::size_t max_idle = 64;          // of those, that wait to be used again
  std::size_t max_idle_each = 8;      // of those, with the same settings
  std::chrono::milliseconds idle_time{60'000};
  // Before an endpoint that has kept a caller waiting in vain is asked again, by one caller at a time.
  std::chrono::milliseconds probe_pause{1'000};
};

// Safe to use from any thread.
class AmqpClient {
 public:
  // Fails when the system has no resources for it.
  static base::Result<std::unique_ptr<AmqpClient>> create(const AmqpClientOptions& options);
  // Breaks all connections. There must be no calls any more; brokers may be left, and answer that they are lost.
  ~AmqpClient();
  AmqpClient(const AmqpClient&) = delete;
  AmqpClient& operator=(const AmqpClient&) = delete;

  // The process ends: calls that wait for a broker are answered at once that they were stopped or lost, and no new ones
  // are made. What was sent and not confirmed is in doubt.
  void break_off();

  // Nothing is connected yet. invalid when the settings break a rule, or a file of theirs cannot be read. Brokers with
  // the same settings share their idle connections.
  Result<std::unique_ptr<Broker>> broker(const ConnectionSettings& settings);

  // Whether a call to a broker with these endpoints is likely to be answered.
  Standing standing(const std::vector<Endpoint>& endpoints, bool has_tls) const;

 private:
  struct Impl;
  explicit AmqpClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace postino::broker
