// A broker with a management API beside it, which knows what AMQP 1.0 has no word for: how many messages a queue has.
// RabbitMQ has one, in its plugin rabbitmq_management. If that cannot be used, the log says so once, and once when it
// can be used again.
#pragma once

#include <memory>
#include <string>

#include "broker/broker.h"
#include "http/client.h"
#include "net/partner_health.h"

namespace postino::broker {

struct ManagementSettings {
  std::string url;                 // "https://broker.example:15671"
  std::string virtual_host = "/";  // where the queues are
  std::string user;
  std::string password;
  std::string authorities_file;  // to trust in place of the system's (PEM)
  bool allow_password_in_clear = false;
  Milliseconds timeout{10'000};
};

class ManagedBroker final : public Broker {
 public:
  // invalid when the settings break a rule. Without TLS the password goes only to this machine, unless that is allowed.
  static Result<std::unique_ptr<Broker>> create(std::unique_ptr<Broker> broker, const ManagementSettings& settings);

  ProduceReport produce(const std::string& queue, const Messages& messages, const ProduceOptions& options,
                        const OnConfirmed& on_confirmed) override {
    return broker_->produce(queue, messages, options, on_confirmed);
  }
  Result<std::unique_ptr<Held>> receive(const std::string& queue, const ReceiveOptions& options) override {
    return broker_->receive(queue, options);
  }
  Result<Depth> depth(const std::string& queue) override;
  Result<Identity> test() override { return broker_->test(); }

 private:
  ManagedBroker(std::unique_ptr<Broker> broker, std::unique_ptr<http::Client> client, net::Url url,
                const ManagementSettings& settings);
  tl::unexpected<Failure> out_of_use(Failure failure);

  const std::unique_ptr<Broker> broker_;
  const std::unique_ptr<http::Client> client_;
  const net::Url url_;  // of the list of queues
  const std::string authorization_;
  const Milliseconds timeout_;
  net::PartnerHealth health_;
};

}  // namespace postino::broker
