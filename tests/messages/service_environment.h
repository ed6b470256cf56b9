// The message service on a store of a test's own.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "item/value.h"
#include "message_store.h"
#include "messages/service.h"

namespace postino::messages {

// Passes everything on to a broker until its process crashes: then the messages that it holds are not returned.
class CrashableBroker final : public broker::Broker {
 public:
  explicit CrashableBroker(std::unique_ptr<broker::Broker> broker) : broker_(std::move(broker)) {}

  void crash() { crashed_ = true; }
  void restart() { crashed_ = false; }

  broker::ProduceReport produce(const std::string& queue, const broker::Messages& messages,
                                const broker::ProduceOptions& options,
                                const broker::OnConfirmed& on_confirmed) override;
  broker::Result<std::unique_ptr<broker::Held>> receive(const std::string& queue,
                                                        const broker::ReceiveOptions& options) override;
  broker::Result<broker::Depth> depth(const std::string& queue) override { return broker_->depth(queue); }
  broker::Result<broker::Identity> test() override { return broker_->test(); }

 private:
  class CrashableHeld;

  const std::unique_ptr<broker::Broker> broker_;
  std::atomic<bool> crashed_ = false;
  std::mutex mutex_;
  std::vector<std::unique_ptr<broker::Held>> unreturned_;
};

struct EnvironmentOptions {
  StoreQueueOptions queue;
  ConnectionsOptions connections;
  std::shared_ptr<base::MemoryBudget> answers = nullptr;  // of services
  base::Milliseconds lease = std::chrono::seconds(30);    // of executions
};

class ServiceEnvironment {
 public:
  explicit ServiceEnvironment(std::shared_ptr<base::Clock> clock, EnvironmentOptions options = {});

  // Each is what another process would have. The hook is told of every step of its executions.
  std::unique_ptr<MessageService> make_service(std::function<bool(Step)> on_step = nullptr);

  MessageStore& store() { return store_; }
  CrashableBroker& embedded() { return *embedded_; }
  Connections& connections() { return *connections_; }
  // What the table of records has for PRODUCE#<key> or the like.
  std::optional<item::Item> record(const std::string& pk);
  std::string attribute(const std::string& pk, const std::string& name);

 private:
  MessageStore store_;
  const std::shared_ptr<base::MemoryBudget> answers_;
  const base::Milliseconds lease_;
  std::shared_ptr<CrashableBroker> embedded_;
  std::unique_ptr<Connections> connections_;
};

// Requests from JSON; the test ends when they break a rule.
ProduceRequest produce_request(const std::string& body);
ConsumeRequest consume_request(const std::string& body);
// To the queue "q", of numbered texts.
ProduceRequest produce_request(const std::string& key, std::size_t total, std::size_t batch = 10);
ConsumeRequest consume_request(const std::string& key, std::size_t most);

// "" for success, otherwise the name of the fault.
template <class T>
std::string fault_of_answer(const Result<T>& answer) {
  return answer ? "" : std::string(name_of(answer.error().kind));
}
template <class T>
::testing::AssertionResult succeeded(const Result<T>& answer) {
  if (answer) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << name_of(answer.error().kind) << ": " << answer.error().message;
}

}  // namespace postino::messages
