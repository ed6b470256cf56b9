// A subscription of the embedded store: reads the stream's records from the database and waits for new ones.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "engine/catalog/core.h"
#include "store/stream.h"

namespace postino::engine {

class StreamSubscription final : public store::Subscription {
 public:
  // `arn` is that of the stream; `position` of the first record, in whichever shard it lies.
  StreamSubscription(Core& core, ObjectId stream, std::string arn, RecordNumber position)
      : core_(core), stream_(stream), arn_(std::move(arn)), position_(position) {}

  store::Answer<std::vector<store::StreamRecord>> next(int limit, base::Milliseconds timeout) override;
  store::StreamPlace place() const override;
  store::Answer<store::StreamMoment> present_end() override;
  bool has_passed(const store::StreamMoment& moment) const override;
  void close() override;

 private:
  store::Answer<std::vector<store::StreamRecord>> read(int limit);

  Core& core_;
  const ObjectId stream_;
  const std::string arn_;
  RecordNumber position_;     // of the next record, in whichever shard it lies
  RecordNumber reached_ = 0;  // no record with a smaller number comes any more
  std::atomic<bool> closed_ = false;
};

}  // namespace postino::engine
