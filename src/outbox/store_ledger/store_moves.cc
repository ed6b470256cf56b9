// Moves: many in one transaction, each conditional on the version that the change was decided on.
#include "outbox/ledger/move_batch.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_counts.h"
#include "outbox/store_ledger/work_queue.h"

namespace postino::outbox {

// Changes that go together until one of them is found to be late; then the others go on without it.
class StoreLedger::MoveWriter : private MoveBatch<store::TransactPut> {
 public:
  MoveWriter(StoreLedger& ledger, std::vector<Change>& changes, std::vector<MoveOutcome>& outcomes)
      : MoveBatch(changes, outcomes), ledger_(ledger) {}

  bool has_room_for(const Change& change) const {
    const std::size_t actions = actions_ + actions_of(change) + slices_.size_with(change.before);
    return is_empty() || (MoveBatch::has_room_for(change) && actions <= store::max_transaction_actions);
  }

  void add(std::size_t index) {
    MoveBatch::add(index);
    actions_ += actions_of(changes_[index]);
    slices_.left(changes_[index].before);
  }

  void commit() {
    spool_messages(ledger_.policy_, [&](const SpoolObject& object) { return ledger_.put_away(object); });
    store::CountMender counts = mender_of_counts(ledger_.store_, ledger_.tables_.counts());
    while (!is_empty()) {
      const store::TransactWriteItemsRequest request = build();
      const auto answer = ledger_.retry_([&] { return ledger_.store_.transact_write_items(request); });
      if (answer) {
        for (const std::size_t index : members_) finish(index);
        return;
      }
      if (answer.error().type == store::ErrorType::transaction_canceled && drop_late_ones(answer.error())) continue;
      if (counts.mend(request, answer.error())) continue;
      const base::Error error = store::as_error(answer.error());
      for (const std::size_t index : members_) fail(index, error.message, error.code == base::ErrorCode::io);
      return;
    }
  }

 private:
  // The e-mail, its lines of history, the message.
  static std::size_t actions_of(const Change& change) { return 1 + change.lines.size() + (change.message ? 1 : 0); }

  // Of an e-mail that ends late; the time it got when it was accepted is right otherwise.
  std::optional<base::TimePoint> later_expiry(const Email& after) const {
    const base::TimePoint expires = ledger_.expires(after);
    return expires > kept_from(after) + ledger_.policy_.keep ? std::optional(expires) : std::nullopt;
  }

  store::TransactWriteItemsRequest build() {
    store::TransactWriteItemsRequest request;
    CountChanges counts;
    first_action_.clear();
    for (const std::size_t index : members_) {
      const Change& change = changes_[index];
      first_action_.push_back(request.actions.size());
      request.actions.emplace_back(meta_update(ledger_.tables_.emails, change, later_expiry(change.after)));
      for (const NewLine& line : change.lines) request.actions.emplace_back(ledger_.put_line(change.after, line));
      for (const store::TransactPut& put : contents_[index].writes) request.actions.emplace_back(put);
      counts.left(change.before);
      counts.entered(change.after);
    }
    ledger_.add_counts(counts, request);
    return request;
  }

  // False when the cancellation was not about versions.
  bool drop_late_ones(const store::Error& error) {
    std::vector<std::size_t> rest;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (condition_failed(error, first_action_[i]))
        be_late(members_[i]);
      else
        rest.push_back(members_[i]);
    }
    const bool some_were = rest.size() < members_.size();
    members_ = std::move(rest);
    return some_were;
  }

  StoreLedger& ledger_;
  std::vector<std::size_t> first_action_;  // of each member
  std::size_t actions_ = 0;                // without those of the counts
  CountChanges slices_;                    // that the counts will change
};

std::vector<MoveOutcome> StoreLedger::move(std::vector<Change> changes) {
  std::vector<MoveOutcome> outcomes(changes.size());
  commit_in_batches(changes, [&] { return MoveWriter(*this, changes, outcomes); });
  return outcomes;
}

}  // namespace postino::outbox
