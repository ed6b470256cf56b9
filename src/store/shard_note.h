// Over how many partitions ("shards") a service spreads what many write to. Processes that share a store may be told
// different numbers, and the number may be raised while they run: an item of the table notes the largest that was ever
// used, and all look into so many shards. It is raised before anything is written to a new shard. A process that does
// not know of that yet finds what is there a few seconds later.
#pragma once

#include <atomic>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "item/value.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::store {

inline constexpr int most_shards = 64;

class ShardNote {
 public:
  struct Place {
    std::string table;
    item::Key key;
  };
  // `wanted`: by the settings of this process. `least`: there were as many before the first note, or as the caller
  // knows already. Asks nothing yet. The store must outlive it.
  ShardNote(Store& store, Place place, int wanted, int least, Retry retry)
      : store_(store),
        place_(std::move(place)),
        wanted_(wanted),
        least_(least),
        retry_(std::move(retry)),
        most_(least) {}

  // The largest number that was ever used, as far as this process knows. It never becomes less. Safe from any thread.
  int most() const { return most_.load(std::memory_order_relaxed); }

  // Takes up what is noted, and raises it to what is wanted here. One thread at a time. When raising it fails, what is
  // noted counts all the same.
  base::Result<void> look();
  // The same every few seconds, where other processes may have raised it; to be called now and then. A process that
  // cannot read the note cannot read the table, and says so elsewhere: here it is passed over.
  void look_again(const base::Clock& clock);

 private:
  base::Result<int> read() const;
  base::Result<void> raise(int shards) const;

  Store& store_;
  const Place place_;
  const int wanted_;
  const int least_;
  const Retry retry_;
  std::atomic<int> most_;
  bool is_known_ = false;            // has a look succeeded?
  base::Milliseconds next_look_{0};  // by the monotonic clock
};

}  // namespace postino::store
