// Changes that go into one commit: what that has in common on every ledger.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "outbox/ledger/contents.h"

namespace postino::outbox {

// Members are numbers of changes. Those that turn out to be late, or cannot be written, leave with their outcome.
template <class Write>
class MoveBatch {
 public:
  MoveBatch(std::vector<Change>& changes, std::vector<MoveOutcome>& outcomes)
      : changes_(changes), outcomes_(outcomes), contents_(changes.size()) {}

 protected:
  static std::size_t bytes_of(const Change& change) { return change.message ? change.message->size() : 0; }

  bool has_room_for(const Change& change) const { return room_.has_room_for(bytes_of(change)); }
  bool is_empty() const { return members_.empty(); }
  void add(std::size_t index) {
    room_.add(bytes_of(changes_[index]));
    members_.push_back(index);
  }

  // Puts the messages where the ledger keeps them; `spool` as in spool_contents(). A member whose message cannot be
  // written fails.
  template <class SpoolObjects>
  void spool_messages(const Policy& policy, const SpoolObjects& spool) {
    std::erase_if(members_, [&](std::size_t index) {
      Change& change = changes_[index];
      if (!change.message) return false;
      base::Result<Spooled<Write>> spooled =
          spool(SpoolObject{SpoolKind::message, change.after.id, change.after.created_at, *std::move(change.message),
                            expiry_of(change.after, policy)});
      if (!spooled) {
        fail(index, spooled.error().message, false);
        return true;
      }
      change.after.message_path = spooled->path;
      contents_[index].add(*std::move(spooled));
      return false;
    });
  }

  void finish(std::size_t index) { outcomes_[index] = {MoveStatus::done, std::move(changes_[index].after), ""}; }
  void be_late(std::size_t index) {
    outcomes_[index] = {MoveStatus::lock_not_acquired, std::move(changes_[index].before), ""};
  }
  void fail(std::size_t index, const std::string& error, bool in_doubt) {
    outcomes_[index] = {MoveStatus::failed, std::move(changes_[index].before), error, in_doubt};
  }

  std::vector<Change>& changes_;
  std::vector<MoveOutcome>& outcomes_;
  std::vector<std::size_t> members_;
  std::vector<SpooledContents<Write>> contents_;  // the message of each change, if it has one
  CommitRoom room_;
};

// Commits all changes, each batch as full as it can be. `make` makes an empty batch.
template <class Make>
void commit_in_batches(const std::vector<Change>& changes, const Make& make) {
  for (std::size_t next = 0; next < changes.size();) {
    auto batch = make();
    while (next < changes.size() && batch.has_room_for(changes[next])) batch.add(next++);
    batch.commit();
  }
}

}  // namespace postino::outbox
