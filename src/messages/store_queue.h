// Queues in the store, for those who have no broker: the same interface, the same guarantees.
//
// A queue is there when it is first used. Messages come out in the order they were put in, as the clock has it; what is
// released returns to its place. A message that is received is leased: if its holder does not settle it before
// the lease ends, others get it. Rejected messages move to the queue "<name>.dead"; rejected there, they are dropped.
// Items of other programs that are no messages move there, too.
// Those whose time to live is over are dropped when they are met. The layout is in queue_layout.h and docs/messages.md.
//
// Any number of processes may share a queue. Safe to use from any thread.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "broker/broker.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::messages {

struct StoreQueueOptions {
  std::string table = "messages";          // made when it is first needed
  base::Milliseconds lease{60'000};        // of a message that was received
  std::uint64_t max_messages = 1'000'000;  // in one queue; more are refused as exhausted
  base::Milliseconds poll{250};            // how often a waiting receiver looks for what other processes put in
};

// With everything that belongs to a message. Larger ones are refused as invalid.
inline constexpr std::size_t max_stored_message_bytes = 256 << 10;

class StoreQueue final : public broker::Broker {
 public:
  // Everything given must outlive it and what it has handed out. Leases, delays and the order go by the clock: where
  // several processes share the store, it must be one that they all have.
  StoreQueue(store::Store& store, const base::Clock& clock, base::Random& random, store::Retry retry,
             StoreQueueOptions options);
  ~StoreQueue() override;

  broker::ProduceReport produce(const std::string& queue, const broker::Messages& messages,
                                const broker::ProduceOptions& options,
                                const broker::OnConfirmed& on_confirmed) override;
  broker::Result<std::unique_ptr<broker::Held>> receive(const std::string& queue,
                                                        const broker::ReceiveOptions& options) override;
  broker::Result<broker::Depth> depth(const std::string& queue) override;
  broker::Result<broker::Identity> test() override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace postino::messages
