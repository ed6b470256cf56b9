// Produces and consumes messages once per key, however often it is asked to.
//
// The first call with a key executes; others hear that it is in progress, or get the answer of the first. What failed,
// expired, or lost its process is executed by the next call: a produce goes on where the confirmed part ends.
// Safe to call from any thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/memory_budget.h"
#include "base/random.h"
#include "broker/broker.h"
#include "idempotency/guard.h"
#include "idempotency/lease_keeper.h"
#include "messages/connections.h"
#include "messages/fault.h"
#include "messages/queue_rights.h"
#include "messages/request.h"
#include "messages/statistics.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::messages {

// Where an execution is. For tests, which stop it there.
enum class Step {
  begun,       // the record is IN_PROGRESS
  progressed,  // of produce: a confirmed part has been recorded
  produced,    // all messages are confirmed
  received,    // of consume: messages are held
  completed,   // the record is COMPLETED; of consume: the messages are not settled yet
  settled,     // of consume: the messages are settled, which the record does not say yet
};

struct ServiceOptions {
  idempotency::GuardOptions guard;  // table, life of records, lease
  QueueRights rights;               // of tenants
  base::Milliseconds produce_time{600'000};
  std::size_t max_consumed_bytes = 16 << 20;  // of bodies in one answer
  // For answers with messages in them, from when a message is received until the client has taken the answer. nullptr:
  // without limit.
  std::shared_ptr<base::MemoryBudget> answers;
  // False: the execution ends there, as if its process had died.
  std::function<bool(Step)> on_step;
};

// Whose call it is, and what its headers say.
struct CallOptions {
  std::string scope;                       // keys of one scope do not meet those of another: a tenant, or an API key
  std::optional<base::Milliseconds> life;  // of the record, in place of the configured one
  std::string tenant;                      // whose queues it may use; empty: all
};

struct Reply {
  std::string body;  // JSON
  bool replayed = false;
  std::size_t processed = 0;  // messages, when it was executed
  // What the body takes of ServiceOptions::answers.
  std::shared_ptr<base::MemoryBudget::Share> memory = nullptr;
};

class MessageService {
 public:
  // Everything given must outlive it.
  MessageService(store::Store& store, Connections& connections, const base::Clock& clock, base::Random& random,
                 store::Retry retry, ServiceOptions options);
  ~MessageService();  // no calls may be under way

  // Makes the tables where they are missing. Call it before anything else.
  base::Result<void> prepare();

  Result<Reply> produce(const ProduceRequest& request, const CallOptions& options);
  Result<Reply> consume(const ConsumeRequest& request, const CallOptions& options);

  Result<broker::Depth> depth(const Place& place, const std::string& queue, const std::string& tenant = {});
  Result<broker::Identity> test(const Place& place, const std::string& tenant = {});

  // Whom a call to this place waits for; nullopt when there is no such connection.
  std::optional<BrokerTarget> target(const Place& place) { return connections_.target(place); }

  // For a process that is about to end: calls that wait for messages give up, and those that produce stop where they
  // are. They fail, so that the same request goes on with another process.
  void stop() { stopping_.request_stop(); }

  // In Prometheus' text format: calls, messages and time by operation, queue and result.
  void append_metrics(std::string& out) const { statistics_.append_to(out); }

 private:
  class Execution;
  class Production;
  class Consumption;

  // The broker, if it is likely to answer: one that has just kept a caller waiting in vain is not asked by all others.
  Result<std::shared_ptr<broker::Broker>> find_broker(const Place& place);
  Result<Reply> count(std::string_view operation, const Request& request, const CallOptions& options,
                      const std::function<Result<Reply>()>& call);

  store::Store& store_;
  Connections& connections_;
  const base::Clock& clock_;
  const store::Retry retry_;
  const ServiceOptions options_;
  idempotency::Guard guard_;
  idempotency::LeaseKeeper leases_;  // of what is being executed
  Statistics statistics_;
  std::stop_source stopping_;
};

}  // namespace postino::messages
