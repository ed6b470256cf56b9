#include "noting_broker.h"

#include <map>
#include <mutex>
#include <set>

namespace postino::broker {

namespace {

std::mutex mutex;
std::map<std::string, std::size_t> sent_again;  // by queue

class NotingBroker final : public Broker {
 public:
  explicit NotingBroker(std::unique_ptr<Broker> broker) : broker_(std::move(broker)) {}

  ProduceReport produce(const std::string& queue, const Messages& messages, const ProduceOptions& options,
                        const OnConfirmed& on_confirmed) override {
    ProduceReport report = broker_->produce(queue, messages, options, on_confirmed);
    const std::lock_guard lock(mutex);
    sent_again[queue] += report.sent_again;
    return report;
  }
  Answer<std::unique_ptr<Held>> receive(const std::string& queue, const ReceiveOptions& options) override {
    return broker_->receive(queue, options);
  }
  Answer<Depth> depth(const std::string& queue) override { return broker_->depth(queue); }
  Answer<Identity> test() override { return broker_->test(); }

 private:
  const std::unique_ptr<Broker> broker_;
};

}  // namespace

std::unique_ptr<Broker> noting(std::unique_ptr<Broker> broker) {
  return std::make_unique<NotingBroker>(std::move(broker));
}

void drop_doubles(const std::string& queue, std::vector<Message>& messages) {
  const std::lock_guard lock(mutex);
  std::size_t& left = sent_again[queue];
  std::set<std::string> ids;
  std::erase_if(messages, [&](const Message& message) {
    if (ids.insert(message.id).second || left == 0) return false;
    --left;
    return true;
  });
}

}  // namespace postino::broker
