// A store in front of another one whose streams are followed shard by shard, with a clock that waits move.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "remote/streams/shard_subscription.h"
#include "store/forwarding_store.h"

namespace postino::remote {

class ShardedStore final : public store::ForwardingStore {
 public:
  ShardedStore(store::Store& inner, base::ManualClock& clock) : ForwardingStore(inner), clock_(clock) {}

  store::Answer<std::unique_ptr<store::Subscription>> subscribe(const std::string& table,
                                                                std::optional<store::StreamPlace> after) override {
    return subscribe_to_shards(inner(), clock_, table, std::move(after),
                               [this](base::Milliseconds time) { clock_.advance(time); });
  }

 private:
  base::ManualClock& clock_;
};

}  // namespace postino::remote
