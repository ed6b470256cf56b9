// Moves: many in one transaction, each conditional on the version that the change was decided on.
#include <map>
#include <set>
#include <utility>

#include "outbox/ledger/move_batch.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_counts.h"
#include "outbox/store_ledger/work_queue.h"

namespace postino::outbox {

namespace {

// Is the record as the change has it afterwards? Owner and time tell it from what others have made of the e-mail.
bool is_as_after(const Change& change, const Email& found) {
  const Email& after = change.after;
  return found.version == after.version && found.state == after.state && found.owner == after.owner &&
         found.updated_at == after.updated_at && found.reason == after.reason;
}

}  // namespace

// Changes that go together until one of them is found to be late; then the others go on without it.
class StoreLedger::MoveWriter : private MoveBatch<store::TransactPut> {
 public:
  MoveWriter(StoreLedger& ledger, std::vector<Change>& changes, std::vector<MoveOutcome>& outcomes)
      : MoveBatch(changes, outcomes), ledger_(ledger) {}

  // A transaction has each item once.
  bool has_room_for(const Change& change) const {
    const std::size_t actions = actions_ + actions_of(change) + slices_.size_with(change.before);
    return is_empty() || (MoveBatch::has_room_for(change) && actions <= store::max_transaction_actions &&
                          !ids_.contains(change.before.id));
  }

  void add(std::size_t index) {
    MoveBatch::add(index);
    actions_ += actions_of(changes_[index]);
    slices_.left(changes_[index].before);
    ids_.insert(changes_[index].before.id);
  }

  void commit() {
    spool_messages(ledger_.policy_, [&](const SpoolObject& object) { return ledger_.put_away(object); });
    end_lives();
    write();
  }

 private:
  // The e-mail, its lines of history, the message; and all records of one that is finished by it, or is not any more.
  std::size_t actions_of(const Change& change) const {
    return 1 + change.lines.size() + (change.message ? 1 : 0) +
           (ledger_.changes_lives(change) ? ledger_.lives_.count_in_commit(change.before) : 0);
  }

  // Of e-mails that start over, as far as it is not in the commit: before that.
  void end_lives() {
    std::erase_if(members_, [&](std::size_t index) {
      const Change& change = changes_[index];
      const RecordLife life = ledger_.life_of(change.after);
      if (!ledger_.changes_lives(change) || life.has_begun) return false;
      const auto ended = ledger_.lives_.write_rest(change.before, life);
      if (!ended) fail(index, ended.error().message, false);
      return !ended;
    });
  }

  void write() {
    store::CountMender counts = mender_of_counts(ledger_.store_, ledger_.tables_.counts());
    while (!is_empty()) {
      const store::TransactWriteItemsRequest request = build();
      const auto answer = transact(request);
      if (answer) {
        for (const std::size_t index : members_) be_done(index);
        return;
      }
      if (answer.error().type == store::ErrorType::transaction_canceled && drop_late_ones(answer.error())) continue;
      if (counts.mend(request, answer.error())) continue;
      // Together the records may be too large for one transaction: what is stored of them counts, too.
      if (answer.error().type == store::ErrorType::validation && members_.size() > 1) return write_one_by_one();
      return give_up(store::as_error(answer.error()));
    }
  }

  void write_one_by_one() {
    for (const std::size_t index : std::exchange(members_, {})) {
      members_ = {index};
      write();
    }
    members_.clear();
  }

  // An internal error may come after the write: then the next attempt meets what the first has written.
  store::Answer<store::TransactWriteItemsResponse> transact(const store::TransactWriteItemsRequest& request) {
    return ledger_.retry_([&] {
      auto answer = ledger_.store_.transact_write_items(request);
      if (!answer && answer.error().type == store::ErrorType::internal_server_error)
        for (const std::size_t index : members_) changes_[index].may_be_written = true;
      return answer;
    });
  }

  // It is not known of some whether they were written: a look may tell. That one is as before does not: it may be about
  // to be written.
  void give_up(const base::Error& error) {
    const bool in_doubt = error.code == base::ErrorCode::io;
    std::vector<std::string> ids;
    for (const std::size_t index : members_) ids.push_back(changes_[index].before.id);
    std::map<std::string, item::Item> found;
    if (in_doubt)
      if (auto metas = ledger_.read_metas(ids))
        for (item::Item& meta : *metas) found.emplace(meta.find("Id")->as<std::string>(), std::move(meta));
    for (const std::size_t index : members_) {
      const auto now = found.find(changes_[index].before.id);
      if (now != found.end() && was_written(changes_[index], now->second))
        be_done(index);
      else
        fail(index, error.message, in_doubt);
    }
  }

  void be_done(std::size_t index) {
    const Change& change = changes_[index];
    const RecordLife life = ledger_.life_of(change.after);
    if (ledger_.changes_lives(change) && life.has_begun) ledger_.write_rest_of_lives(change.before, life);
    finish(index);
  }

  // Another one, or an end for now. On a store that asks before it deletes: later than the one it got when it was
  // accepted, which is right otherwise.
  std::optional<RecordLife> new_life(const Change& change) const {
    if (ledger_.changes_lives(change)) return ledger_.life_of(change.after);
    const base::TimePoint expires = ledger_.expires(change.after);
    const bool is_later = expires > kept_from(change.after) + ledger_.policy_.keep;
    return is_later && !ledger_.is_shared() ? std::optional<RecordLife>(expires) : std::nullopt;
  }

  store::TransactWriteItemsRequest build() {
    store::TransactWriteItemsRequest request;
    CountChanges counts;
    first_action_.clear();
    for (const std::size_t index : members_) {
      const Change& change = changes_[index];
      first_action_.push_back(request.actions.size());
      const std::optional<RecordLife> life = new_life(change);
      request.actions.emplace_back(meta_update(ledger_.tables_.emails, change, ledger_.shards_.most(), life));
      for (const NewLine& line : change.lines) request.actions.emplace_back(ledger_.put_line(change.after, line));
      for (const store::TransactPut& put : contents_[index].writes) request.actions.emplace_back(put);
      if (ledger_.changes_lives(change))
        for (store::TransactUpdate& update : ledger_.lives_.in_commit(change.before, *life))
          request.actions.emplace_back(std::move(update));
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
      const std::size_t index = members_[i];
      if (!condition_failed(error, first_action_[i]))
        rest.push_back(index);
      else if (was_written(changes_[index], error.details->reasons[first_action_[i]].item))
        be_done(index);
      else
        be_late(index);
    }
    const bool some_were = rest.size() < members_.size();
    members_ = std::move(rest);
    return some_were;
  }

  // By an attempt whose answer did not come. Its lease may have begun earlier than that of this one.
  static bool was_written(Change& change, const std::optional<item::Item>& record) {
    const auto found = change.may_be_written && record ? std::optional(email_of(*record)) : std::nullopt;
    if (!found || !*found || !is_as_after(change, **found)) return false;
    change.after.due_at = (*found)->due_at;
    return true;
  }

  StoreLedger& ledger_;
  std::set<std::string> ids_;              // of all members that there were
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
