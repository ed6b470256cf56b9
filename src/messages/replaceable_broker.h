// A broker in whose place another one can be put while it is used. Calls that have begun end with the one that they
// began with.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "broker/broker.h"

namespace postino::messages {

// Safe to use from any thread.
class ReplaceableBroker final : public broker::Broker {
 public:
  explicit ReplaceableBroker(std::shared_ptr<broker::Broker> broker) : broker_(std::move(broker)) {}

  // From now on calls go to this one.
  void replace(std::shared_ptr<broker::Broker> broker) {
    const std::lock_guard lock(mutex_);
    broker_.swap(broker);
  }

  broker::ProduceReport produce(const std::string& queue, const broker::Messages& messages,
                                const broker::ProduceOptions& options,
                                const broker::OnConfirmed& on_confirmed) override {
    return current()->produce(queue, messages, options, on_confirmed);
  }
  broker::Result<std::unique_ptr<broker::Held>> receive(const std::string& queue,
                                                        const broker::ReceiveOptions& options) override {
    return current()->receive(queue, options);
  }
  broker::Result<broker::Depth> depth(const std::string& queue) override { return current()->depth(queue); }
  broker::Result<broker::Identity> test() override { return current()->test(); }

 private:
  std::shared_ptr<broker::Broker> current() const {
    const std::lock_guard lock(mutex_);
    return broker_;
  }

  mutable std::mutex mutex_;
  std::shared_ptr<broker::Broker> broker_;
};

}  // namespace postino::messages
