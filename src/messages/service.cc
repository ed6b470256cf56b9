#include "messages/service.h"

#include <chrono>

namespace postino::messages {

MessageService::MessageService(store::Store& store, Connections& connections, const base::Clock& clock,
                               base::Random& random, store::Retry retry, ServiceOptions options)
    : store_(store),
      connections_(connections),
      clock_(clock),
      retry_(std::move(retry)),
      options_(std::move(options)),
      guard_(store, clock, random, options_.guard),
      leases_(guard_, guard_.clock()) {}

MessageService::~MessageService() = default;

base::Result<void> MessageService::prepare() { return idempotency::prepare_tables(store_, options_.guard.table); }

Result<Reply> MessageService::count(std::string_view operation, const Request& request, const CallOptions& options,
                                    const std::function<Result<Reply>()>& call) {
  const auto began = std::chrono::steady_clock::now();
  Result<Reply> reply = call();
  std::string_view result = "completed";
  if (!reply)
    result = name_of(reply.error().kind);
  else if (reply->replayed)
    result = "replayed";
  const auto time = std::chrono::steady_clock::now() - began;
  const std::string queue = options.tenant.empty() ? request.queue : options.tenant + "/" + request.queue;
  statistics_.count(operation, queue, result, reply ? reply->processed : 0,
                    std::chrono::duration_cast<base::Milliseconds>(time));
  return reply;
}

Result<std::shared_ptr<broker::Broker>> MessageService::find_broker(const Place& place) {
  TRY(std::shared_ptr<broker::Broker> broker, connections_.find(place));
  const std::optional<BrokerTarget> target = connections_.target(place);
  if (!target || target->standing() != broker::Standing::silent) return broker;
  Fault fault{.kind = FaultKind::exhausted,
              .message = "the broker did not answer a moment ago, and is asked by one call at a time until it does"};
  fault.retry_after = base::Milliseconds(1'000);
  return base::propagate(std::move(fault));
}

Result<broker::Depth> MessageService::depth(const Place& place, const std::string& queue, const std::string& tenant) {
  const auto name = options_.rights.name_of_queue(tenant, place, queue);
  if (!name) {
    Fault fault = name.error();
    for (json::FieldError& error : fault.fields) error.field = "queue";  // here it is a part of the path
    return tl::unexpected<Fault>(std::move(fault));
  }
  TRY(const std::shared_ptr<broker::Broker> broker, connections_.find(place));
  auto depth = broker->depth(*name);
  if (!depth) return base::propagate(fault_of(depth.error()));
  return *depth;
}

Result<broker::Identity> MessageService::test(const Place& place, const std::string& tenant) {
  TRY_VOID(options_.rights.check_place(tenant, place));
  TRY(const std::shared_ptr<broker::Broker> broker, connections_.find(place));
  auto identity = broker->test();
  if (!identity) return base::propagate(fault_of(identity.error()));
  return *std::move(identity);
}

}  // namespace postino::messages
