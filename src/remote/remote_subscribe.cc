#include "remote/calls/caller.h"
#include "remote/remote_store.h"
#include "remote/streams/shard_subscription.h"

namespace postino::remote {

store::Answer<std::unique_ptr<store::Subscription>> RemoteStore::subscribe(const std::string& table_name,
                                                                           std::optional<store::StreamPlace> after) {
  return subscribe_to_shards(*this, caller_->service_clock(), table_name, std::move(after));
}

}  // namespace postino::remote
