// Changes that were set aside and that an operator wants to have delivered again. The process that is asked is not
// always the one that follows: so the wish is an item in the table of metrics, and the one that follows finds it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "metrics/follow/failure.h"
#include "metrics/follow/set_aside.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::metrics {

// Of one follower. Safe to use from any thread.
class AskedAgain {
 public:
  static constexpr std::int64_t most = 100;  // that wait

  // The store must outlive it.
  AskedAgain(store::Store& store, const std::string& table, std::string follower, const store::Retry& retry)
      : store_(store), table_(table), follower_(std::move(follower)), retry_(retry), set_aside_(store, table, retry) {}

  // exhausted when too many wait.
  base::Result<void> ask(const std::string& id);
  // Those that wait, and that are still set aside. They do not wait any more: what cannot be delivered now is not tried
  // again, and the operator sees that it was not done.
  Outcome<std::vector<SetAside>> take();

 private:
  store::UpdateItemRequest update(const std::string& text, std::vector<std::string> ids) const;

  store::Store& store_;
  const std::string table_;
  const std::string follower_;
  const store::Retry retry_;
  SetAsideList set_aside_;
};

}  // namespace postino::metrics
