// Acceptance: e-mail, first states, payload, counts and the caller's key in one transaction.
#include <algorithm>
#include <map>

#include "outbox/ledger/accept_batch.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_counts.h"
#include "outbox/store_ledger/work_queue.h"

namespace postino::outbox {

namespace {

constexpr const char* accept_operation = "EMAILS";  // the name space of acceptance keys

}  // namespace

class StoreLedger::AcceptWriter : private AcceptBatch<store::TransactPut> {
 public:
  AcceptWriter(StoreLedger& ledger, AcceptRequest& request) : AcceptBatch(request, ledger.spool()), ledger_(ledger) {}

  base::Result<AcceptAnswer> run() {
    if (request_.key()) {
      TRY(const bool ours, look_up_key());
      if (!ours) return std::move(request_.answer());
    }
    TRY_VOID(spool_all(ledger_.policy_, [&](const SpoolObject& object) { return ledger_.put_away(object); }));
    const std::vector<Group> groups = make_groups(TransactionRoom(*this));
    if (request_.key() && groups.size() > 1) {
      TRY(const bool ours, begin_key());
      if (!ours) return std::move(request_.answer());
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const auto ours = commit(groups[i], request_.key() && i + 1 == groups.size());
      if (!ours) {
        keep_contents(groups[i]);
        // A repeat need not wait for the lease to end.
        if (!record_.owner.empty()) (void)ledger_.accept_guard_.fail(record_);
        // Groups before this one are there, and what this one has written may be.
        if (i == 0 && !is_unknown_) return base::propagate(ours.error());
        request_.doubt(groups[i], ours.error());
        if (request_.key()) break;
        continue;
      }
      if (!*ours) break;
    }
    return std::move(request_.answer());
  }

 private:
  // A transaction has a limit of actions, too.
  class TransactionRoom : public Room {
   public:
    explicit TransactionRoom(const AcceptWriter& writer) : Room(writer.request_), writer_(&writer) {}

    bool has_room_for(std::size_t i) const {
      return Room::has_room_for(i) &&
             actions_ + writer_->actions_of(i) + counts_.size_with(writer_->request_.email(i)) <=
                 store::max_transaction_actions;
    }
    void add(std::size_t i) {
      Room::add(i);
      actions_ += writer_->actions_of(i);
      counts_.entered(writer_->request_.email(i));
    }

   private:
    const AcceptWriter* writer_;
    std::size_t actions_ = 1;  // the key; those of the counts are not among them
    CountChanges counts_;
  };

  // Metadata, lines of history, contents.
  std::size_t actions_of(std::size_t i) const {
    return 1 + request_[i].change.lines.size() + contents_[i].writes.size();
  }

  // True when the request is to be carried out.
  base::Result<bool> look_up_key() {
    const AcceptKey& key = *request_.key();
    auto begun =
        ledger_.retry_([&] { return ledger_.accept_guard_.look(accept_operation, key.key, key.request_hash); });
    if (!begun) return base::propagate(store::as_error(begun.error()));
    record_ = ledger_.accept_guard_.new_record(accept_operation, key.key, key.request_hash, life());
    return request_.take_key_state(begun->state, std::move(begun->record.response));
  }

  base::Result<bool> begin_key() {
    const AcceptKey& key = *request_.key();
    auto begun = ledger_.retry_(
        [&] { return ledger_.accept_guard_.begin(accept_operation, key.key, key.request_hash, life()); });
    if (!begun) return base::propagate(store::as_error(begun.error()));
    record_ = std::move(begun->record);
    mark_ = std::move(begun->mark);
    return request_.take_key_state(begun->state, record_.response);
  }

  base::Milliseconds life() const { return request_.key()->expires_at - ledger_.clock_.now(); }

  // An internal error may come after the write, as from a disk that fails while it syncs.
  store::Answer<store::TransactWriteItemsResponse> write(const store::TransactWriteItemsRequest& request) {
    return ledger_.retry_([&] {
      auto answer = ledger_.store_.transact_write_items(request);
      if (!answer && answer.error().type == store::ErrorType::internal_server_error) is_unknown_ = true;
      return answer;
    });
  }

  // False when another request has the key. Fails only with a key, or when the store cannot be read.
  base::Result<bool> commit(Group group, bool with_key) {
    is_unknown_ = false;
    store::CountMender counts = mender_of_counts(ledger_.store_, ledger_.tables_.counts());
    while (!group.empty() || with_key) {
      const store::TransactWriteItemsRequest request = build(group, with_key);
      const auto answer = write(request);
      if (answer) {
        be_accepted(group);
        return true;
      }
      const std::size_t before = group.size();
      if (answer.error().type == store::ErrorType::transaction_canceled) {
        if (with_key && condition_failed(answer.error(), request.actions.size() - 1)) {
          keep_contents(group);  // the key may be taken by an attempt of ours of which no answer came
          TRY(const bool ours, was_written(group));
          if (ours) be_accepted(group);
          return ours ? true : look_up_key_again();
        }
        TRY_VOID(drop_refused(group, answer.error()));
      }
      if (group.size() < before || counts.mend(request, answer.error())) continue;
      keep_contents(group);
      const base::Error cause = store::as_error(answer.error());
      if (is_unknown_ && !request_.key())
        request_.doubt(group, cause);
      else
        TRY_VOID(request_.refuse(group, AcceptError::database, cause));
      return true;
    }
    return true;
  }

  void be_accepted(const Group& group) {
    keep_contents(group);
    for (const std::size_t i : group) request_.answer().outcomes[i].email = std::move(request_.email(i));
  }

  // By an attempt whose answer did not come? Not by another request with the same key: times and owners differ.
  base::Result<bool> was_written(const Group& group) {
    if (!is_unknown_ || group.empty()) return false;
    std::vector<std::string> ids;
    for (const std::size_t i : group) ids.push_back(request_.email(i).id);
    TRY(const std::vector<Email> found, ledger_.read(ids));
    return std::ranges::equal(found, group, {}, {}, [&](std::size_t i) -> const Email& { return request_.email(i); });
  }

  store::TransactWriteItemsRequest build(const Group& group, bool with_key) {
    store::TransactWriteItemsRequest request;
    CountChanges counts;
    first_action_.clear();
    for (const std::size_t i : group) {
      const Email& email = request_.email(i);
      first_action_.push_back(request.actions.size());
      store::TransactPut meta;
      meta.table_name = ledger_.tables_.emails;
      meta.item = meta_item(email, ledger_.life_of(email), ledger_.shards_.most());
      meta.condition = "attribute_not_exists(Id)";
      request.actions.emplace_back(std::move(meta));
      for (const NewLine& line : request_[i].change.lines) request.actions.emplace_back(ledger_.put_line(email, line));
      for (const store::TransactPut& put : contents_[i].writes) request.actions.emplace_back(put);
      counts.entered(email);
    }
    ledger_.add_counts(counts, request);
    if (request_.key()) request_.render_answer();
    if (with_key)
      request.actions.emplace_back(ledger_.accept_guard_.completion(record_, request_.answer().stored_answer));
    return request;
  }

  base::Result<bool> look_up_key_again() {
    TRY(const bool ours, look_up_key());
    // It was refused and is free now: it expired in between. The caller gets through with the next attempt.
    if (ours) request_.take_key_state(idempotency::KeyState::in_progress);
    return false;
  }

  // Drops those whose ids are taken: the conditions on their metadata were not met.
  base::Result<void> drop_refused(Group& group, const store::Error& error) {
    std::map<std::size_t, std::string> tokens;
    for (std::size_t place = 0; place < group.size(); ++place) {
      if (!condition_failed(error, first_action_[place])) continue;
      const std::size_t i = group[place];
      const auto known = ledger_.find(request_.email(i).id);
      // What cannot be read was not written by this request: it may be another program's.
      if (!known && known.error().code != base::ErrorCode::corrupt) return base::propagate(known.error());
      tokens[i] = known && *known ? (*known)->acceptance_token : "";
      // An attempt whose answer did not come has stored it: a worker may be waiting for it.
      if (is_unknown_ && known && *known == request_.email(i)) request_.answer().outcomes[i].email = **known;
    }
    drop_known_ones(group, [&](std::size_t i) {
      const auto known = tokens.find(i);
      return known == tokens.end() ? std::nullopt : std::optional(known->second);
    });
    return {};
  }

  StoreLedger& ledger_;
  idempotency::Record record_;
  std::unique_ptr<idempotency::Executions::Mark> mark_;  // this process executes the request
  bool is_unknown_ = false;                // whether a write of the group was done, because the store failed
  std::vector<std::size_t> first_action_;  // of each member of the group
};

base::Result<AcceptAnswer> StoreLedger::accept(std::vector<NewEmail> emails, const std::optional<AcceptKey>& key,
                                               const RenderAnswer& render) {
  AcceptRequest request(emails, key, render, random_, AcceptRequest::Ids::exact);
  return AcceptWriter(*this, request).run();
}

}  // namespace postino::outbox
