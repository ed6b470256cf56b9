// Which one of several processes does something: it holds a lease, which is an item of a table.
//
// Every write of the item has the condition that its version is the one that was seen. Who stands by takes the lease
// when the version has not changed for as long as the lease lasts, by its own clock that cannot be set. So clocks need
// not agree. A holder that was stopped for longer than that finds out at its next hold(), and not before: what it does
// must be something that two may do at a time for a moment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "item/value.h"
#include "store/store.h"

namespace postino::store {

// Whether the owner of something that has a version is silent: the version was the same each time for so long.
class Silence {
 public:
  bool has_lasted(std::int64_t version, base::Milliseconds now, base::Milliseconds time) {
    if (version_ != version) {
      version_ = version;
      since_ = now;
    }
    return now - since_ >= time;
  }
  void forget() { version_.reset(); }

 private:
  std::optional<std::int64_t> version_;
  base::Milliseconds since_{0};  // monotonic
};

// For one thread at a time.
class Lease {
 public:
  static constexpr base::Milliseconds usual_life = std::chrono::seconds(30);

  // The item has this key, `owner` and `version`. `owner` is another one for each process. All must outlive it.
  Lease(Store& store, std::string table, item::Key key, std::string owner, const base::Clock& clock,
        base::Milliseconds life = usual_life);

  // Takes it if it is free, or its owner is silent; renews it when a third of its life has passed since it was last
  // written. True: it is ours. Otherwise it is known only after an error whose it is.
  base::Result<bool> hold();
  bool is_held() const { return is_held_; }
  // Lets another process take it at once.
  void release();

 private:
  base::Result<bool> take();
  Answer<WriteItemResponse> write(const std::string& owner);

  Store& store_;
  const std::string table_;
  const item::Key key_;
  const std::string owner_;
  const base::Clock& clock_;
  const base::Milliseconds life_;
  bool is_held_ = false;
  std::int64_t version_ = 0;  // as it was last seen; 0: there is no item
  base::Milliseconds written_{0};
  Silence silence_;
};

}  // namespace postino::store
