// Turns the changes of a table into figures: counters and checkpoint change in one commit.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "metrics/figures/contribution.h"
#include "metrics/follow/change_handler.h"
#include "metrics/recount.h"

namespace postino::metrics {

class Counter final : public ChangeHandler {
 public:
  // Told after each commit whose figures have changed. By the follower's thread; must not wait.
  using OnChange = std::function<void(const std::set<std::string>& tenants)>;

  // The store and the clock must outlive it.
  Counter(store::Store& store, Source source, const base::Clock& clock, store::Retry retry, OnChange on_change = {},
          RecountOptions recount = {})
      : store_(store),
        source_(std::move(source)),
        clock_(clock),
        retry_(std::move(retry)),
        on_change_(std::move(on_change)),
        recount_(recount) {}

  const Source& source() const { return source_; }

  // Counts all items again.
  Outcome<std::uint64_t> begin(const Beginning& beginning, store::ChangeFeed& feed, CheckpointKeeper& keeper) override;
  Outcome<void> handle(std::span<const store::StreamRecord> records, CheckpointKeeper& keeper) override;
  // What can be counted of it is: an item that cannot be read counts as nothing, as it does when all are counted again.
  Outcome<void> set_aside(const store::StreamRecord& record, const std::string& reason,
                          CheckpointKeeper& keeper) override;

 private:
  Outcome<void> commit(const Tally& tally, std::span<const store::StreamRecord> done, CheckpointKeeper& keeper,
                       std::vector<store::TransactAction> more = {});
  void tell(const Tally& tally) const;

  store::Store& store_;
  const Source source_;
  const base::Clock& clock_;
  const store::Retry retry_;
  const OnChange on_change_;
  const RecountOptions recount_;
};

}  // namespace postino::metrics
