// A broker behind AMQP 1.0.
#pragma once

#include <memory>
#include <string>

#include "broker/broker.h"
#include "broker/connection/connector.h"
#include "broker/connection/receiving_link.h"

namespace postino::broker {

class AmqpBroker final : public Broker {
 public:
  explicit AmqpBroker(std::shared_ptr<const Connector> connector) : connector_(std::move(connector)) {}

  ProduceReport produce(const std::string& queue, const Messages& messages, const ProduceOptions& options,
                        const OnConfirmed& on_confirmed) override;
  Result<std::unique_ptr<Held>> receive(const std::string& queue, const ReceiveOptions& options) override;
  Result<Depth> depth(const std::string& queue) override;
  Result<Identity> test() override;

 private:
  struct Opened {
    Lease lease;
    std::shared_ptr<ReceivingLink> link;
  };
  Result<std::unique_ptr<Held>> receive_once(const std::string& queue, const ReceiveOptions& options, Deadline end,
                                             Connector::Want want) const;
  // What the queue has right now.
  Result<void> take_rest(const Opened& opened) const;
  Result<Opened> open_receiver(const std::string& queue, Connector::Want want) const;
  Deadline soon() const;

  const std::shared_ptr<const Connector> connector_;
};

}  // namespace postino::broker
