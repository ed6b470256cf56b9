// Moves: many in one transaction, each conditional on the version its caller saw.
#include <algorithm>

#include "base/check.h"
#include "outbox/ledger/transitions.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_counts.h"
#include "outbox/store_ledger/work_queue.h"

namespace postino::outbox {

namespace {

// What of a transaction's size the messages may use; the rest is for the metadata.
constexpr std::size_t max_moved_message_bytes = 3 << 20;

// The state, its line of history, the line of a state that is passed, the message.
std::size_t move_actions(const Move& move) { return 2 + (move.through ? 1 : 0) + (move.message ? 1 : 0); }

}  // namespace

// Moves that go together until one of them is found to be late; then the others go on without it.
class StoreLedger::MoveBatch {
 public:
  MoveBatch(StoreLedger& ledger, std::vector<Move>& moves, std::vector<MoveOutcome>& outcomes)
      : ledger_(ledger), moves_(moves), outcomes_(outcomes), messages_(moves.size()) {}

  bool has_room_for(const Move& move) const {
    const std::size_t bytes = move.message ? move.message->size() : 0;
    const std::size_t actions = actions_ + move_actions(move) + slices_.size_with(move.before);
    return members_.empty() || (members_.size() < max_ledger_batch && actions <= store::max_transaction_actions &&
                                message_bytes_ + bytes <= max_moved_message_bytes);
  }

  void add(std::size_t index) {
    message_bytes_ += moves_[index].message ? moves_[index].message->size() : 0;
    actions_ += move_actions(moves_[index]);
    slices_.left(moves_[index].before);
    members_.push_back(index);
  }

  void commit() {
    spool_messages();
    while (!members_.empty()) {
      const store::TransactWriteItemsRequest request = build();
      const auto answer = ledger_.patience_([&] { return ledger_.store_.transact_write_items(request); });
      if (answer) return finish(MoveStatus::done, "");
      if (answer.error().type != store::ErrorType::transaction_canceled || !drop_late_ones(answer.error()))
        return finish(MoveStatus::failed, as_error(answer.error()).message);
    }
  }

 private:
  // Puts messages into the transaction, or into the spool before it.
  void spool_messages() {
    std::erase_if(members_, [&](std::size_t index) {
      Move& move = moves_[index];
      if (!move.message) return false;
      auto spooled = ledger_.spool({SpoolKind::message, move.before.id, move.before.created_at,
                                    std::move(*move.message), ledger_.expiry_of(move.before)});
      if (!spooled) {
        outcomes_[index] = {MoveStatus::failed, move.before, spooled.error().message};
        return true;
      }
      move.after.message_path = std::move(spooled->path);
      messages_[index] = std::move(spooled->put);
      return false;
    });
  }

  // The e-mail as it was for no time at all.
  static Email passed_state(const Move& move) {
    Email email;
    email.id = move.before.id;
    email.created_at = move.before.created_at;
    email.send_at = move.before.send_at;
    email.state = *move.through;
    email.version = move.before.version + 1;
    email.updated_at = move.after.updated_at;
    email.reached = move.before.reached;
    ++email.reached[static_cast<std::size_t>(email.state)];
    return email;
  }

  store::TransactWriteItemsRequest build() {
    store::TransactWriteItemsRequest request;
    CountChanges counts;
    first_action_.clear();
    const base::TimePoint now = ledger_.clock_.now();
    const std::string& table = ledger_.options_.tables.emails;
    for (const std::size_t index : members_) {
      Move& move = moves_[index];
      const Email& after = move.after;
      complete(move, now);
      first_action_.push_back(request.actions.size());
      request.actions.emplace_back(meta_update(table, move));
      if (move.through) request.actions.emplace_back(ledger_.put_line(passed_state(move), move.through_note));
      request.actions.emplace_back(ledger_.put_line(after, move.note.empty() ? after.reason : move.note));
      if (messages_[index]) request.actions.emplace_back(*messages_[index]);
      counts.left(move.before);
      counts.entered(after);
    }
    ledger_.add_counts(counts, request);
    return request;
  }

  // False when the cancellation was not about versions.
  bool drop_late_ones(const store::Error& error) {
    std::vector<std::size_t> rest;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (condition_failed(error, first_action_[i]))
        outcomes_[members_[i]] = {MoveStatus::lock_not_acquired, moves_[members_[i]].before, ""};
      else
        rest.push_back(members_[i]);
    }
    const bool some_were = rest.size() < members_.size();
    members_ = std::move(rest);
    return some_were;
  }

  void finish(MoveStatus status, const std::string& error) {
    for (const std::size_t index : members_)
      outcomes_[index] = {status, status == MoveStatus::done ? std::move(moves_[index].after) : moves_[index].before,
                          error};
  }

  StoreLedger& ledger_;
  std::vector<Move>& moves_;
  std::vector<MoveOutcome>& outcomes_;
  std::vector<std::optional<store::TransactPut>> messages_;  // that go into the transaction, by index
  std::vector<std::size_t> members_;                         // indexes into moves
  std::vector<std::size_t> first_action_;                    // of each member
  std::size_t actions_ = 0;                                  // without those of the counts
  CountChanges slices_;                                      // that the counts will change
  std::size_t message_bytes_ = 0;
};

std::vector<MoveOutcome> StoreLedger::move(std::vector<Move> moves) {
  std::vector<MoveOutcome> outcomes(moves.size());
  for (std::size_t next = 0; next < moves.size();) {
    MoveBatch batch(*this, moves, outcomes);
    while (next < moves.size() && batch.has_room_for(moves[next])) batch.add(next++);
    batch.commit();
  }
  return outcomes;
}

}  // namespace postino::outbox
