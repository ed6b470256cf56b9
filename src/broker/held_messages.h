// Messages of an AMQP broker, with the connection that holds them.
#pragma once

#include <memory>
#include <vector>

#include "broker/broker.h"
#include "broker/connection/connector.h"
#include "broker/connection/receiving_link.h"

namespace postino::broker {

class HeldMessages final : public Held {
 public:
  // The connector is kept for as long as the connection is.
  HeldMessages(std::vector<Message> messages, std::vector<ReceivingLink::Incoming> incoming,
               std::shared_ptr<ReceivingLink> link, std::shared_ptr<const Connector> connector, Lease lease)
      : Held(std::move(messages)),
        incoming_(std::move(incoming)),
        link_(std::move(link)),
        connector_(std::move(connector)),
        lease_(std::move(lease)) {}

  Result<void> settle(const std::vector<Disposition>& dispositions) override;

 private:
  const std::vector<ReceivingLink::Incoming> incoming_;
  const std::shared_ptr<ReceivingLink> link_;
  const std::shared_ptr<const Connector> connector_;
  Lease lease_;  // goes first: what is not settled then returns to the queue
  bool is_settled_ = false;
};

}  // namespace postino::broker
