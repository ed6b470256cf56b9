// Changes as messages in a queue, one for each, in their order. The id of a message is the same when it is sent again.
#pragma once

#include <string>

#include "broker/broker.h"
#include "metrics/sinks/delivery.h"

namespace postino::metrics {

class QueueSink final : public Delivery {
 public:
  // The broker must outlive it, too.
  QueueSink(std::string table, const base::Clock& clock, broker::Broker& broker, std::string queue)
      : Delivery(std::move(table), clock), broker_(broker), queue_(std::move(queue)) {}

 protected:
  Outcome<void> deliver(std::span<const store::StreamRecord> records, Checkpoint& checkpoint) override;

 private:
  broker::Broker& broker_;
  const std::string queue_;
};

}  // namespace postino::metrics
