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
      leases_(guard_, clock) {}

MessageService::~MessageService() = default;

base::Result<void> MessageService::prepare() { return idempotency::prepare_tables(store_, options_.guard.table); }

Result<Reply> MessageService::count(std::string_view operation, const std::string& queue,
                                    const std::function<Result<Reply>()>& call) {
  const auto began = std::chrono::steady_clock::now();
  Result<Reply> reply = call();
  std::string_view result = "completed";
  if (!reply)
    result = name_of(reply.error().kind);
  else if (reply->replayed)
    result = "replayed";
  const auto time = std::chrono::steady_clock::now() - began;
  statistics_.count(operation, queue, result, reply ? reply->processed : 0,
                    std::chrono::duration_cast<base::Milliseconds>(time));
  return reply;
}

Result<broker::Depth> MessageService::depth(const Place& place, const std::string& queue) {
  TRY(const std::shared_ptr<broker::Broker> broker, connections_.find(place));
  auto depth = broker->depth(queue);
  if (!depth) return base::propagate(fault_of(depth.error()));
  return *depth;
}

Result<broker::Identity> MessageService::test(const Place& place) {
  TRY(const std::shared_ptr<broker::Broker> broker, connections_.find(place));
  auto identity = broker->test();
  if (!identity) return base::propagate(fault_of(identity.error()));
  return *std::move(identity);
}

}  // namespace postino::messages
