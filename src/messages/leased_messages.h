// Messages of a queue in the store, leased to one receiver.
#pragma once

#include <memory>
#include <vector>

#include "broker/broker.h"
#include "messages/local_queue.h"

namespace postino::messages {

class LeasedMessages final : public broker::Held {
 public:
  // What is rejected goes to `dead`, or for good when that is null. Until `kept_until`, by the queue's clock that
  // cannot be set, no other receiver gets them.
  LeasedMessages(std::shared_ptr<LocalQueue> queue, std::shared_ptr<LocalQueue> dead, std::vector<StoredMessage> stored,
                 base::Milliseconds kept_until);
  ~LeasedMessages() override;

  bool are_kept() const override { return queue_->clock().monotonic() < kept_until_; }
  // lost when some leases had ended before.
  broker::Result<void> settle(const std::vector<broker::Disposition>& dispositions) override;

 private:
  QueueMove move_of(const StoredMessage& message, broker::Disposition disposition) const;

  const std::shared_ptr<LocalQueue> queue_;
  const std::shared_ptr<LocalQueue> dead_;
  const std::vector<StoredMessage> stored_;
  const base::Milliseconds kept_until_;
  bool is_settled_ = false;
};

// A failure of the store, as brokers have it.
broker::Failure failure_of(const store::Error& error);

}  // namespace postino::messages
