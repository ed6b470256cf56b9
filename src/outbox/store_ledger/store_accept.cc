// Acceptance: e-mail, first states, payload, counts and the caller's key in one transaction.
#include <algorithm>

#include "outbox/ledger/accept_request.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_counts.h"
#include "outbox/store_ledger/work_queue.h"

namespace postino::outbox {

namespace {

constexpr const char* accept_operation = "EMAILS";  // the name space of acceptance keys

// Metadata, payload, lines of history; the message.
std::size_t accept_actions(const NewEmail& email) {
  return 2 + email.change.lines.size() + (email.change.message ? 1 : 0);
}

}  // namespace

class StoreLedger::AcceptWriter {
 public:
  AcceptWriter(StoreLedger& ledger, AcceptRequest& request)
      : ledger_(ledger), request_(request), contents_(request.size()) {}

  base::Result<AcceptAnswer> run() {
    if (request_.key()) {
      TRY(const bool ours, look_up_key());
      if (!ours) return std::move(request_.answer());
    }
    const std::vector<Group> groups = make_groups();
    if (request_.key() && groups.size() > 1) {
      TRY(const bool ours, begin_key());
      if (!ours) return std::move(request_.answer());
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const auto ours = commit(groups[i], request_.key() && i + 1 == groups.size());
      if (!ours) {
        // A repeat need not wait for the lease to end.
        if (!record_.owner.empty()) (void)ledger_.accept_guard_.fail(record_);
        return base::propagate(ours.error());
      }
      if (!*ours) break;
    }
    return std::move(request_.answer());
  }

 private:
  using Group = AcceptRequest::Group;

  // True when the request is to be carried out; otherwise the answer says why not.
  bool take(idempotency::Begun begun) {
    using idempotency::Verdict;
    if (begun.verdict == Verdict::execute) return true;
    AcceptAnswer& answer = request_.answer();
    answer = {};
    answer.status = AcceptStatus::in_progress;
    if (begun.verdict == Verdict::other_request) answer.status = AcceptStatus::other_request;
    if (begun.verdict == Verdict::replay) {
      answer.status = AcceptStatus::replayed;
      answer.stored_answer = std::move(begun.record.response);
    }
    return false;
  }

  base::Result<bool> look_up_key() {
    const AcceptKey& key = *request_.key();
    auto begun =
        ledger_.retry_([&] { return ledger_.accept_guard_.look(accept_operation, key.key, key.request_hash); });
    if (!begun) return base::propagate(store::as_error(begun.error()));
    record_ = ledger_.accept_guard_.new_record(accept_operation, key.key, key.request_hash, life());
    return take(std::move(*begun));
  }

  base::Result<bool> begin_key() {
    const AcceptKey& key = *request_.key();
    auto begun = ledger_.retry_(
        [&] { return ledger_.accept_guard_.begin(accept_operation, key.key, key.request_hash, life()); });
    if (!begun) return base::propagate(store::as_error(begun.error()));
    record_ = begun->record;
    return take(std::move(*begun));
  }

  base::Milliseconds life() const { return request_.key()->expires_at - ledger_.clock_.now(); }

  // Such that each fits into a transaction.
  std::vector<Group> make_groups() const {
    std::vector<Group> groups(1);
    CommitRoom room;
    std::size_t actions = 1;  // the key
    CountChanges counts;
    for (std::size_t i = 0; i < request_.size(); ++i) {
      if (request_.is_refused(i)) continue;
      const Email& email = request_.email(i);
      const std::size_t more_actions = accept_actions(request_[i]);
      const bool fits = room.has_room_for(request_.bytes(i)) &&
                        actions + more_actions + counts.size_with(email) <= store::max_transaction_actions;
      if (!fits && !room.is_empty()) {
        groups.emplace_back();
        room = {};
        actions = 1;
        counts = {};
      }
      groups.back().push_back(i);
      room.add(request_.bytes(i));
      actions += more_actions;
      counts.entered(email);
    }
    return groups;
  }

  // Puts payloads and messages into the transaction, or into the spool before it.
  base::Result<void> spool_group(Group& group) {
    Group rest;
    for (const std::size_t i : group) {
      NewEmail& email = request_[i];
      auto contents = spool_contents<store::TransactPut>(
          request_.email(i), std::move(email.payload), std::move(email.change.message),
          ledger_.expires(request_.email(i)), [&](const SpoolObject& object) { return ledger_.put_away(object); });
      if (!contents) {
        TRY_VOID(request_.refuse({i}, AcceptError::storage, contents.error()));
        continue;
      }
      contents_[i] = *std::move(contents);
      rest.push_back(i);
    }
    group = std::move(rest);
    return {};
  }

  // False when another request has the key.
  base::Result<bool> commit(Group group, bool with_key) {
    TRY_VOID(spool_group(group));
    while (!group.empty() || with_key) {
      const store::TransactWriteItemsRequest request = build(group, with_key);
      const auto answer = ledger_.retry_([&] { return ledger_.store_.transact_write_items(request); });
      if (answer) {
        for (const std::size_t i : group) request_.answer().outcomes[i].email = std::move(request_.email(i));
        return true;
      }
      const std::size_t before = group.size();
      if (answer.error().type == store::ErrorType::transaction_canceled) {
        if (with_key && condition_failed(answer.error(), request.actions.size() - 1)) return look_up_key_again();
        TRY_VOID(drop_known_ones(group, answer.error()));
      }
      if (group.size() < before) continue;
      TRY_VOID(request_.refuse(group, AcceptError::database, store::as_error(answer.error())));
      return true;
    }
    return true;
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
      meta.item = meta_item(email, ledger_.expires(email));
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
    if (ours) request_.answer().status = AcceptStatus::in_progress;
    return false;
  }

  // E-mails whose ids are taken leave the group: refused, or accepted before by this very request.
  base::Result<void> drop_known_ones(Group& group, const store::Error& error) {
    Group rest;
    for (std::size_t place = 0; place < group.size(); ++place) {
      const std::size_t i = group[place];
      if (!condition_failed(error, first_action_[place])) {
        rest.push_back(i);
        continue;
      }
      const auto known = ledger_.find(request_.email(i).id);
      // What cannot be read was not written by this request: it may be another program's.
      if (!known && known.error().code != base::ErrorCode::corrupt) return base::propagate(known.error());
      if (known && *known && (*known)->acceptance == request_.email(i).acceptance) continue;
      request_.refuse_duplicate(i);
      contents_[i].remove_written(ledger_.spool());
    }
    group = std::move(rest);
    return {};
  }

  StoreLedger& ledger_;
  AcceptRequest& request_;
  idempotency::Record record_;
  std::vector<SpooledContents> contents_;  // of each e-mail
  std::vector<std::size_t> first_action_;  // of each member of the group
};

base::Result<AcceptAnswer> StoreLedger::accept(std::vector<NewEmail> emails, const std::optional<AcceptKey>& key,
                                               const RenderAnswer& render) {
  AcceptRequest request(emails, key, render, random_, AcceptRequest::Ids::exact);
  return AcceptWriter(*this, request).run();
}

}  // namespace postino::outbox
