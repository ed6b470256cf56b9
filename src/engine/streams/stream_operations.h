// The streams API of the embedded store, and the subscription for our own services.
#pragma once

#include "engine/catalog/core.h"
#include "store/stream.h"

namespace postino::engine {

// Stateless apart from the core; any thread.
class StreamOperations {
 public:
  explicit StreamOperations(Core& core) : core_(core) {}

  store::Answer<store::ListStreamsResponse> list(const store::ListStreamsRequest& request);
  store::Answer<store::StreamDescription> describe(const store::DescribeStreamRequest& request);
  store::Answer<std::string> shard_iterator(const store::GetShardIteratorRequest& request);
  std::optional<std::string> stream_of(const std::string& shard_iterator);
  store::Answer<store::GetRecordsResponse> records(const store::GetRecordsRequest& request);
  // A place of this store is a position in the one sequence of the stream, or the beginning of one shard. The
  // subscription must not outlive the core.
  store::Answer<std::unique_ptr<store::Subscription>> subscribe(const std::string& table_name,
                                                                const std::optional<store::StreamPlace>& after);

 private:
  Core& core_;
};

}  // namespace postino::engine
