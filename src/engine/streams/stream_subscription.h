// A subscription of the embedded store: reads the stream's records from the database and waits for new ones.
#pragma once

#include <atomic>

#include "engine/catalog/core.h"
#include "store/stream.h"

namespace postino::engine {

class StreamSubscription final : public store::Subscription {
 public:
  StreamSubscription(Core& core, ObjectId stream, store::SequenceNumber position)
      : core_(core), stream_(stream), position_(position) {}

  store::Answer<std::vector<store::StreamRecord>> next(int limit, base::Milliseconds timeout) override;
  store::Answer<std::optional<store::SequenceNumber>> present_end() override;
  void close() override;

 private:
  store::Answer<std::vector<store::StreamRecord>> read(int limit) const;

  Core& core_;
  const ObjectId stream_;
  store::SequenceNumber position_;  // of the next record, in whichever shard it lies
  std::atomic<bool> closed_ = false;
};

}  // namespace postino::engine
