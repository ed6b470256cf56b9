// Acceptance: e-mail, first state, payload, counts and the caller's key in one transaction.
#include <algorithm>
#include <set>

#include "base/log.h"
#include "outbox/ledger/transitions.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_counts.h"
#include "outbox/store_ledger/work_queue.h"

namespace postino::outbox {

namespace {

constexpr const char* operation = "EMAILS";  // the name space of acceptance keys

constexpr std::size_t max_transaction_bytes = 3 << 20;  // of a transaction; the rest is for metadata

// Metadata, payload, and a line of history for each state; the message.
std::size_t acceptance_actions(const NewEmail& email) { return 3 + email.through.size() + (email.message ? 1 : 0); }
std::size_t transaction_bytes(const NewEmail& email) {
  return email.payload.size() + (email.message ? email.message->size() : 0);
}

}  // namespace

class StoreLedger::Acceptance {
 public:
  Acceptance(StoreLedger& ledger, std::vector<NewEmail>& emails, const std::optional<AcceptKey>& key,
             const RenderAnswer& render)
      : ledger_(ledger),
        emails_(emails),
        key_(key),
        render_(render),
        payloads_(emails.size()),
        messages_(emails.size()) {
    for (const NewEmail& email : emails) answer_.outcomes.push_back({email.email.id, std::nullopt, ""});
  }

  base::Result<AcceptAnswer> run() {
    if (key_) {
      TRY(const bool ours, look_up_key());
      if (!ours) return std::move(answer_);
    }
    prepare();
    const std::vector<std::vector<std::size_t>> groups = make_groups();
    if (key_ && groups.size() > 1) {
      TRY(const bool ours, begin_key());
      if (!ours) return std::move(answer_);
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const auto ours = commit(groups[i], key_ && i + 1 == groups.size());
      if (!ours) {
        // A repeat need not wait for the lease to end.
        if (!record_.owner.empty()) (void)ledger_.accept_guard_.fail(record_);
        return base::propagate(ours.error());
      }
      if (!*ours) break;
    }
    return std::move(answer_);
  }

 private:
  // True when the request is to be carried out; otherwise the answer says why not.
  bool take(idempotency::Begun begun) {
    using idempotency::Verdict;
    if (begun.verdict == Verdict::execute) return true;
    answer_ = {};
    answer_.status = AcceptStatus::in_progress;
    if (begun.verdict == Verdict::other_request) answer_.status = AcceptStatus::other_request;
    if (begun.verdict == Verdict::replay) {
      answer_.status = AcceptStatus::replayed;
      answer_.stored_answer = std::move(begun.record.response);
    }
    return false;
  }

  base::Result<bool> look_up_key() {
    auto begun =
        ledger_.patience_([&] { return ledger_.accept_guard_.look(operation, key_->key, key_->request_hash); });
    if (!begun) return base::propagate(as_error(begun.error()));
    record_ = ledger_.accept_guard_.new_record(operation, key_->key, key_->request_hash, life());
    return take(std::move(*begun));
  }

  base::Result<bool> begin_key() {
    auto begun = ledger_.patience_(
        [&] { return ledger_.accept_guard_.begin(operation, key_->key, key_->request_hash, life()); });
    if (!begun) return base::propagate(as_error(begun.error()));
    record_ = begun->record;
    return take(std::move(*begun));
  }

  base::Milliseconds life() const { return key_->expires_at - ledger_.clock_.now(); }

  // Completes the e-mails. Of two with one id in the same request the first counts.
  void prepare() {
    const base::TimePoint now = ledger_.clock_.now();
    std::set<std::string_view> ids;
    for (std::size_t i = 0; i < emails_.size(); ++i) {
      Email& email = emails_[i].email;
      if (!ids.insert(email.id).second) refuse_duplicate(i);
      complete(emails_[i], now);
      email.acceptance = key_ ? acceptance_of(*key_, i) : base::make_uuid(ledger_.random_);
    }
  }

  void refuse_duplicate(std::size_t i) {
    answer_.outcomes[i].error = AcceptError::duplicated_id;
    answer_.outcomes[i].message = "an e-mail with this id was accepted before";
  }

  // By number and size, such that each fits into a transaction.
  std::vector<std::vector<std::size_t>> make_groups() const {
    std::vector<std::vector<std::size_t>> groups(1);
    std::size_t bytes = 0;
    std::size_t actions = 1;  // the key
    CountChanges counts;
    for (std::size_t i = 0; i < emails_.size(); ++i) {
      if (answer_.outcomes[i].error) continue;
      const Email& email = emails_[i].email;
      const bool full = groups.back().size() == max_ledger_batch ||
                        actions + acceptance_actions(emails_[i]) + counts.size_with(email) > store::max_transaction_actions ||
                        bytes + transaction_bytes(emails_[i]) > max_transaction_bytes;
      if (full && !groups.back().empty()) {
        groups.emplace_back();
        bytes = 0;
        actions = 1;
        counts = {};
      }
      groups.back().push_back(i);
      bytes += transaction_bytes(emails_[i]);
      actions += acceptance_actions(emails_[i]);
      counts.entered(email);
    }
    return groups;
  }

  // Puts payloads and messages into the transaction, or into the spool before it. As with the store: with a key the
  // caller is told to come again when the spool does not take them.
  base::Result<void> spool_contents(std::vector<std::size_t>& group) {
    base::Result<void> trouble;
    std::erase_if(group, [&](std::size_t i) {
      const auto spooled = spool_contents_of(i);
      if (spooled) return false;
      answer_.outcomes[i].error = AcceptError::storage;
      answer_.outcomes[i].message = spooled.error().message;
      if (key_) trouble = base::propagate(spooled.error());
      return true;
    });
    return trouble;
  }

  base::Result<void> spool_contents_of(std::size_t i) {
    NewEmail& accepted = emails_[i];
    Email& email = accepted.email;
    SpoolObject object{SpoolKind::payload, email.id, email.created_at, std::move(accepted.payload),
                       ledger_.expiry_of(email)};
    TRY(Spooled payload, ledger_.spool(object));
    email.payload_path = std::move(payload.path);
    payloads_[i] = std::move(payload.put);
    if (!accepted.message) return {};
    object.kind = SpoolKind::message;
    object.bytes = std::move(*accepted.message);
    TRY(Spooled message, ledger_.spool(object));
    email.message_path = std::move(message.path);
    messages_[i] = std::move(message.put);
    return {};
  }

  // What is in the spool although nobody names it. It expires anyway.
  void remove_contents_of(std::size_t i) {
    const Email& email = emails_[i].email;
    if (!payloads_[i]) (void)ledger_.spool_.remove(email.payload_path);
    if (!messages_[i] && !email.message_path.empty()) (void)ledger_.spool_.remove(email.message_path);
  }

  // False when the key turned out to be somebody else's.
  base::Result<bool> commit(std::vector<std::size_t> group, bool with_key) {
    TRY_VOID(spool_contents(group));
    while (!group.empty() || with_key) {
      const store::TransactWriteItemsRequest request = build(group, with_key);
      const auto answer = ledger_.patience_([&] { return ledger_.store_.transact_write_items(request); });
      if (answer) {
        for (const std::size_t i : group) answer_.outcomes[i].email = std::move(emails_[i].email);
        return true;
      }
      const std::size_t before = group.size();
      if (answer.error().type == store::ErrorType::transaction_canceled) {
        if (with_key && condition_failed(answer.error(), request.actions.size() - 1)) return look_up_key_again();
        TRY_VOID(drop_known_ones(group, answer.error()));
      }
      if (group.size() == before) return refuse_all(group, as_error(answer.error()));
    }
    return true;
  }

  store::TransactWriteItemsRequest build(const std::vector<std::size_t>& group, bool with_key) {
    store::TransactWriteItemsRequest request;
    CountChanges counts;
    const std::string& table = ledger_.options_.tables.emails;
    first_action_.clear();
    for (const std::size_t i : group) {
      const Email& email = emails_[i].email;
      first_action_.push_back(request.actions.size());
      store::TransactPut meta;
      meta.table_name = table;
      meta.item = meta_item(email, ledger_.expiry_of(email));
      meta.condition = "attribute_not_exists(Id)";
      request.actions.emplace_back(std::move(meta));
      for (store::TransactPut& line : lines_of(emails_[i])) request.actions.emplace_back(std::move(line));
      if (payloads_[i]) request.actions.emplace_back(*payloads_[i]);
      if (messages_[i]) request.actions.emplace_back(*messages_[i]);
      counts.entered(email);
    }
    ledger_.add_counts(counts, request);
    if (key_) answer_.stored_answer = render_(answer_.outcomes);
    if (with_key) request.actions.emplace_back(ledger_.accept_guard_.completion(record_, answer_.stored_answer));
    return request;
  }

  // A line of history for each state it has been in.
  std::vector<store::TransactPut> lines_of(const NewEmail& accepted) const {
    Email email;
    email.id = accepted.email.id;
    email.created_at = accepted.email.created_at;
    email.send_at = accepted.email.send_at;
    email.updated_at = accepted.email.updated_at;
    email.version = 0;
    std::vector<State> states = accepted.through;
    states.push_back(accepted.email.state);
    std::vector<store::TransactPut> lines;
    for (const State state : states) {
      email.state = state;
      ++email.version;
      ++email.reached[static_cast<std::size_t>(state)];
      lines.push_back(ledger_.put_line(email, accepted.email.reason));
    }
    return lines;
  }

  base::Result<bool> look_up_key_again() {
    TRY(const bool ours, look_up_key());
    // It was refused and is free now: it expired in between. Somebody who retries will get through.
    if (ours) answer_.status = AcceptStatus::in_progress;
    return false;
  }

  // E-mails whose ids are taken leave the group: refused, or accepted before by this very request.
  base::Result<void> drop_known_ones(std::vector<std::size_t>& group, const store::Error& error) {
    std::vector<std::size_t> rest;
    for (std::size_t place = 0; place < group.size(); ++place) {
      const std::size_t i = group[place];
      if (!condition_failed(error, first_action_[place])) {
        rest.push_back(i);
        continue;
      }
      const auto known = ledger_.find(emails_[i].email.id);
      // What cannot be read was not written by this request: it may be another program's.
      if (!known && known.error().code != base::ErrorCode::corrupt) return base::propagate(known.error());
      if (known && *known && (*known)->acceptance == emails_[i].email.acceptance) continue;
      refuse_duplicate(i);
      remove_contents_of(i);
    }
    group = std::move(rest);
    return {};
  }

  // The store does not take them now. With a key the caller is told to come again, and nothing is remembered.
  base::Result<bool> refuse_all(const std::vector<std::size_t>& group, const base::Error& error) {
    if (key_) return base::propagate(error);
    base::log_warning("outbox", "e-mails could not be accepted", {{"error", error.message}});
    for (const std::size_t i : group) {
      answer_.outcomes[i].error = AcceptError::database;
      answer_.outcomes[i].message = error.message;
    }
    return true;
  }

  StoreLedger& ledger_;
  std::vector<NewEmail>& emails_;
  const std::optional<AcceptKey>& key_;
  const RenderAnswer& render_;
  idempotency::Record record_;
  std::vector<std::optional<store::TransactPut>> payloads_;  // that go into the transaction
  std::vector<std::optional<store::TransactPut>> messages_;  // likewise
  std::vector<std::size_t> first_action_;                    // of each member of the group
  AcceptAnswer answer_;
};

base::Result<AcceptAnswer> StoreLedger::accept(std::vector<NewEmail> emails, const std::optional<AcceptKey>& key,
                                               const RenderAnswer& render) {
  return Acceptance(*this, emails, key, render).run();
}

}  // namespace postino::outbox
