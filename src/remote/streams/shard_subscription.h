// A subscription to a stream whose shards are read with DescribeStream, GetShardIterator and GetRecords, as those of
// Amazon DynamoDB are.
//
// It reads the shards in turn, each at most five times in a second and about once in a second while nothing comes. A
// call of next() reads each shard that can be read at least once, so with a timeout of 0 it may wait for up to 200 ms.
// Iterators that expire are made again. When the service is throttled a shard waits, without an error. Other errors
// pass, and the next call tries again.
//
// Such a stream comes a little behind its table, and does not say whether there is more: an empty page may come before
// others. A shard counts as caught up when five pages in a row were not full, and then whenever one is not full; a
// moment of the table has passed when all shards have caught up ten seconds after it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "store/store.h"

namespace postino::remote {

// As Store::subscribe says. The store and the clock must outlive the subscription. The clock must go on by itself; a
// test that has a clock of its own gives a `wait` that moves it.
store::Answer<std::unique_ptr<store::Subscription>> subscribe_to_shards(
    store::Store& store, const base::Clock& clock, const std::string& table, std::optional<store::StreamPlace> after,
    std::function<void(base::Milliseconds)> wait = {});

}  // namespace postino::remote
