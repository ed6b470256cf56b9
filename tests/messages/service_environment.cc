#include "service_environment.h"

#include <iostream>

#include "base/check.h"
#include "item/attribute_text.h"

namespace postino::messages {

class CrashableBroker::CrashableHeld final : public broker::Held {
 public:
  CrashableHeld(CrashableBroker& broker, std::unique_ptr<broker::Held> held)
      : Held(held->messages()), broker_(broker), held_(std::move(held)) {}
  ~CrashableHeld() override {
    if (!broker_.crashed_) return;
    const std::lock_guard lock(broker_.mutex_);
    broker_.unreturned_.push_back(std::move(held_));
  }
  broker::Result<void> settle(const std::vector<broker::Disposition>& dispositions) override {
    if (broker_.crashed_) return broker::refuse(broker::FailureKind::lost, "crashed");
    return held_->settle(dispositions);
  }

 private:
  CrashableBroker& broker_;
  std::unique_ptr<broker::Held> held_;
};

broker::ProduceReport CrashableBroker::produce(const std::string& queue, const broker::Messages& messages,
                                               const broker::ProduceOptions& options,
                                               const broker::OnConfirmed& on_confirmed) {
  return broker_->produce(queue, messages, options, on_confirmed);
}

broker::Result<std::unique_ptr<broker::Held>> CrashableBroker::receive(const std::string& queue,
                                                                       const broker::ReceiveOptions& options) {
  TRY(std::unique_ptr<broker::Held> held, broker_->receive(queue, options));
  return std::make_unique<CrashableHeld>(*this, std::move(held));
}

ServiceEnvironment::ServiceEnvironment(std::shared_ptr<base::Clock> clock, EnvironmentOptions options)
    : store_(std::move(clock)),
      answers_(std::move(options.answers)),
      lease_(options.lease),
      embedded_(std::make_shared<CrashableBroker>(store_.make_queue(std::move(options.queue)))) {
  auto connections = Connections::create(std::move(options.connections), embedded_);
  if (!connections) std::cerr << connections.error().message << "\n";
  CHECK(connections.has_value());
  connections_ = *std::move(connections);
}

std::unique_ptr<MessageService> ServiceEnvironment::make_service(std::function<bool(Step)> on_step) {
  ServiceOptions options;
  options.on_step = std::move(on_step);
  options.answers = answers_;
  options.guard.answers = answers_;
  options.guard.lease = lease_;
  auto service = std::make_unique<MessageService>(store_.engine(), *connections_, store_.clock(), store_.random(),
                                                  store_.retry(), std::move(options));
  CHECK(service->prepare().has_value());
  return service;
}

std::optional<item::Item> ServiceEnvironment::record(const std::string& pk) {
  store::GetItemRequest get;
  get.table_name = "mq-probe-idempotency";
  get.key = {{"pk", pk}};
  auto answer = store_.engine().get_item(get);
  CHECK(answer.has_value());
  return std::move(answer->item);
}

std::string ServiceEnvironment::attribute(const std::string& pk, const std::string& name) {
  const auto item = record(pk);
  return item ? item::attribute_text(*item, name) : "";
}

namespace {

template <auto read>
auto request_of(const std::string& body) {
  json::FieldErrors errors;
  auto request = read(body, "", errors);
  for (const json::FieldError& error : errors.list()) std::cerr << error.field << " " << error.rule << "\n";
  CHECK(request.has_value());
  return *std::move(request);
}

}  // namespace

ProduceRequest produce_request(const std::string& body) { return request_of<read_produce>(body); }
ConsumeRequest consume_request(const std::string& body) { return request_of<read_consume>(body); }

ProduceRequest produce_request(const std::string& key, std::size_t total, std::size_t batch) {
  return produce_request(R"({"idempotencyKey":")" + key +
                         R"(","target":{"queueName":"q"},"settings":{"totalMessages":)" + std::to_string(total) +
                         R"(,"batchSize":)" + std::to_string(batch) +
                         R"(},"messages":[{"body":"one"},{"body":"two"}]})");
}

ConsumeRequest consume_request(const std::string& key, std::size_t most) {
  return consume_request(R"({"idempotencyKey":")" + key + R"(","target":{"queueName":"q"},"settings":{"maxMessages":)" +
                         std::to_string(most) + "}}");
}

}  // namespace postino::messages
