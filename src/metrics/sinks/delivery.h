// Changes that are delivered to a receiver: first they are there, then the checkpoint moves. So each is delivered at
// least once and in order, and twice only if the process ends in between.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metrics/follow/asked_again.h"
#include "metrics/follow/change_handler.h"
#include "metrics/follow/set_aside.h"

namespace postino::metrics {

class Delivery : public ChangeHandler {
 public:
  // The clock must outlive it.
  Delivery(std::string table, const base::Clock& clock) : table_(std::move(table)), clock_(clock) {}

  // With the oldest change that the stream has. Changes that are gone are noted among those that were set aside.
  Outcome<std::uint64_t> begin(const Beginning& beginning, store::ChangeFeed& feed, CheckpointKeeper& keeper) override;
  Outcome<void> handle(std::span<const store::StreamRecord> records, CheckpointKeeper& keeper) override;
  Outcome<void> set_aside(const store::StreamRecord& record, const std::string& reason,
                          CheckpointKeeper& keeper) override;
  // Looks now and then for what operators want to have delivered again.
  Outcome<void> between_batches(CheckpointKeeper& keeper) override;

  // Where other processes leave such wishes, too. Called before the first change comes; it must outlive this.
  void listen_to(AskedAgain& asked) { asked_ = &asked; }
  // Those that wait there.
  Outcome<void> deliver_asked(CheckpointKeeper& keeper);

  // Items whose partition key (PK, behind that of a tenant) begins with one of these are not for receivers: their
  // changes are passed over. Called before the first change comes.
  void leave_out(std::vector<std::string> partitions) { left_out_ = std::move(partitions); }

  // Delivers a change that was set aside, after all, and forgets that it was. If the receiver still refuses it, it
  // stays set aside, with the reason of now.
  Outcome<void> deliver_again(SetAside aside, CheckpointKeeper& keeper);

 protected:
  const std::string& table() const { return table_; }
  const base::Clock& clock() const { return clock_; }

  // Makes ready for them. True: it has changed the notes, which are written before anything is delivered.
  virtual Outcome<bool> prepare(std::span<const store::StreamRecord> records, Checkpoint& checkpoint) {
    (void)records, (void)checkpoint;
    return false;
  }
  // Returns when the receiver has all of them. `checkpoint` is the present one; notes that are changed go into the
  // next.
  virtual Outcome<void> deliver(std::span<const store::StreamRecord> records, Checkpoint& checkpoint) = 0;

 private:
  bool is_left_out(const store::StreamRecord& record) const;
  // Makes ready for them. Who was stopped for longer than its lease finds here that another process follows now.
  Outcome<void> make_ready(std::span<const store::StreamRecord> records, CheckpointKeeper& keeper);

  const std::string table_;  // whose changes they are
  std::vector<std::string> left_out_;
  const base::Clock& clock_;
  AskedAgain* asked_ = nullptr;
  std::optional<base::Milliseconds> looked_;  // for wishes; monotonic
};

}  // namespace postino::metrics
