// How far a follower has come in a table's stream, and which of several processes follows it.
//
// The checkpoint is an item in the table of metrics. Every write of it has the condition that its version is the one
// that was seen, and what a follower counts is written in the same commit. So two of them can never both count a
// record, whatever their clocks say and whenever they end. The lease only decides how soon another one takes over: who
// stands by does so when the version has not changed for the lease, by its own clock that cannot be set.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "item/value.h"
#include "metrics/follow/failure.h"
#include "store/change_feed.h"
#include "store/lease.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::metrics {

// Why everything is due that was never done, or not as far as can be told.
inline constexpr std::string_view nothing_counted = "nothing was counted yet";
inline constexpr std::string_view checkpoint_spoilt = "the checkpoint could not be read";

struct Checkpoint {
  store::StreamPlace place;  // behind what is done; without a stream: none was followed yet
  std::string due;           // why everything must be done again; empty: nothing must
  item::Map notes;           // what the handler wants to know again
  std::string owner;         // empty: no process follows now
  std::int64_t version = 0;
  base::TimePoint at;  // when it was written, by the clock of the owner
};

std::string checkpoint_name(const std::string& follower);
item::Item checkpoint_item(const std::string& follower, const Checkpoint& checkpoint);
// corrupt: it does not have the form it must have.
base::Result<Checkpoint> read_checkpoint(const item::Item& item);

struct KeeperOptions {
  std::string table = "prod-metrics";
  std::string follower;  // "tickets"
  std::string owner;     // this process: different for each
  base::Milliseconds lease = std::chrono::seconds(15);
  // No other process can use the store: there is no other to be waited for, nor to be told that this one is alive.
  bool alone = false;
};

// One thread at a time.
class CheckpointKeeper {
 public:
  // The store and the clock must outlive it.
  CheckpointKeeper(store::Store& store, KeeperOptions options, const base::Clock& clock, store::Retry retry)
      : store_(store), options_(std::move(options)), clock_(clock), retry_(std::move(retry)) {}

  const KeeperOptions& options() const { return options_; }

  // Reads it, and takes it if no process has it or its owner is silent for too long. True: it is ours. A new one begins
  // with `due`, and so does one in the place of an item that cannot be read: another program has damaged it.
  Outcome<bool> hold();
  bool holds() const { return holds_; }
  // The last that is known; its own while it holds.
  const Checkpoint& checkpoint() const { return checkpoint_; }

  // Writes the checkpoint and these actions in one commit. lost: it is not ours any more, or that is not known;
  // figures: one of the actions failed its condition or met something else than a number.
  Outcome<void> commit(Checkpoint next, std::vector<store::TransactAction> actions);
  // A part of several commits that are one step: the checkpoint stays as it is, and only while it is ours.
  Outcome<void> commit_part(std::vector<store::TransactAction> actions);
  // These records are done.
  Checkpoint moved_behind(std::span<const store::StreamRecord> records) const;
  // Everything was done again, from this place on.
  Checkpoint begun_at(const store::StreamPlace& place) const;

  // Tells those who stand by that it is alive, when a third of the lease has passed since it was last written.
  Outcome<void> renew();
  // Lets another take it at once.
  void release();
  // It may not be ours any more: hold() reads it again.
  void forget() { holds_ = false; }

 private:
  Outcome<std::optional<item::Item>> load();
  Outcome<bool> take(const Checkpoint& seen);
  Outcome<bool> replace_spoilt(const item::Item& seen, const std::string& fault);
  Outcome<bool> claim(Checkpoint next, store::PutItemRequest request);
  item::Item item_of(const Checkpoint& checkpoint) const;
  Outcome<void> write(Checkpoint next, std::vector<store::TransactAction> actions);
  Outcome<void> settle(const store::Error& error, const Checkpoint& next);

  store::Store& store_;
  const KeeperOptions options_;
  const base::Clock& clock_;
  const store::Retry retry_;
  Checkpoint checkpoint_;
  bool holds_ = false;
  base::Milliseconds written_{0};  // monotonic
  store::Silence silence_;         // of another owner
};

}  // namespace postino::metrics
