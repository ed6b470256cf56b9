// A number that many add to at once. It is kept in several items, and read as their sum.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"
#include "store/retry.h"
#include "store/shards.h"
#include "store/store.h"

namespace postino::store {

struct CounterPlace {
  std::string table;
  Shards shards;                          // of "COUNTER", or "COUNTER#{what}"
  std::string sort = "COUNT";             // empty: the table has no range key
  std::string attribute = "count_value";  // a number
  std::string hash_key = "PK";
  std::string range_key = "SK";
};

// Safe to use from any thread.
class ShardedCounter {
 public:
  // All must outlive it.
  ShardedCounter(Store& store, CounterPlace place, Retry retry, base::Random& random)
      : store_(store), place_(std::move(place)), retry_(std::move(retry)), random_(random) {}

  // For a transaction that counts what it writes. `spread` decides on the shard: something that differs from write to
  // write, such as an id. A transaction may have one for each shard.
  TransactUpdate add_action(std::int64_t by, std::string_view spread) const;

  // Adds, exactly once: a repeated request is known by its token. What another program has put in place of the number
  // begins anew at nothing. An error of type internal_server_error: it may have been added.
  Answer<void> add(std::int64_t by, std::string_view spread);

  // The sum of all shards, each read consistently, one after the other: what is added meanwhile may count or not. What
  // is no number counts as nothing.
  Answer<std::int64_t> read();

 private:
  item::Key key_of(std::string partition) const;

  Store& store_;
  const CounterPlace place_;
  const Retry retry_;
  base::Random& random_;
};

}  // namespace postino::store
