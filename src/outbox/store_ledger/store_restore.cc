// Restoring: an e-mail of another ledger comes with everything there is of it, in one transaction if that can hold it.
#include <algorithm>

#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_counts.h"
#include "outbox/store_ledger/work_queue.h"

namespace postino::outbox {

namespace {

// Lines of history in one transaction, beside the metadata, the spool's two objects and the counts.
constexpr std::size_t max_lines = 90;

}  // namespace

// One e-mail that seems not to be here yet.
class StoreLedger::Restoration {
 public:
  Restoration(StoreLedger& ledger, Change change) : ledger_(ledger), email_(std::move(change.after)) {
    for (const NewLine& line : change.lines) lines_.push_back(ledger.put_line(email_, line));
  }

  base::Result<bool> run(std::string payload, std::optional<std::string> message) {
    TRY(contents_, spool_contents<store::TransactPut>(
                       email_, std::move(payload), std::move(message), ledger_.expires(email_),
                       [&](const SpoolObject& object) { return ledger_.put_away(object, is_finished(email_)); }));
    // Lines without metadata belong to no e-mail: they can be written first, and again when this is broken off.
    while (lines_.size() > max_lines) {
      TRY(const bool absent, commit(take_lines(), absence()));
      if (!absent) return false;
    }
    return commit(take_lines(), metadata());
  }

 private:
  std::vector<store::TransactPut> take_lines() {
    const auto end = lines_.begin() + static_cast<std::ptrdiff_t>(std::min(lines_.size(), max_lines));
    std::vector<store::TransactPut> taken(std::make_move_iterator(lines_.begin()), std::make_move_iterator(end));
    lines_.erase(lines_.begin(), end);
    return taken;
  }

  // Nothing but the assurance that there is no such e-mail.
  store::TransactWriteItemsRequest absence() const {
    store::TransactWriteItemsRequest request;
    store::TransactConditionCheck check;
    check.table_name = ledger_.tables_.emails;
    check.key = meta_key(email_.id);
    check.condition = "attribute_not_exists(Id)";
    request.actions.emplace_back(std::move(check));
    return request;
  }

  store::TransactWriteItemsRequest metadata() const {
    store::TransactWriteItemsRequest request;
    store::TransactPut meta;
    meta.table_name = ledger_.tables_.emails;
    meta.item = meta_item(email_, ledger_.life_of(email_), ledger_.shards_.most());
    meta.condition = "attribute_not_exists(Id)";
    request.actions.emplace_back(std::move(meta));
    for (const store::TransactPut& put : contents_.writes) request.actions.emplace_back(put);
    CountChanges counts;
    counts.entered(email_);
    ledger_.add_counts(counts, request);
    return request;
  }

  // The first action of the request is the one with the condition. False when it is not met.
  base::Result<bool> commit(std::vector<store::TransactPut> lines, store::TransactWriteItemsRequest request) {
    for (store::TransactPut& line : lines) request.actions.emplace_back(std::move(line));
    store::CountMender counts = mender_of_counts(ledger_.store_, ledger_.tables_.counts());
    auto answer = ledger_.retry_([&] { return ledger_.store_.transact_write_items(request); });
    while (!answer && counts.mend(request, answer.error()))
      answer = ledger_.retry_([&] { return ledger_.store_.transact_write_items(request); });
    if (answer) return true;
    if (answer.error().type != store::ErrorType::transaction_canceled || !condition_failed(answer.error(), 0))
      return base::propagate(store::as_error(answer.error()));
    return met_another();
  }

  // There is one after all. A repeated request may have met what it wrote itself.
  base::Result<bool> met_another() {
    TRY(const std::optional<Email> known, ledger_.find(email_.id));
    if (known == email_) return true;
    for (const std::string& path : contents_.written)
      if (!known || (known->payload_path != path && known->message_path != path)) (void)ledger_.spool().remove(path);
    return false;
  }

  StoreLedger& ledger_;
  Email email_;
  SpooledContents contents_;
  std::vector<store::TransactPut> lines_;
};

base::Result<bool> StoreLedger::restore(const StoredEmail& email) {
  const auto known = find(email.email.id);
  // What cannot be read is another program's, and is not overwritten either.
  if (!known && known.error().code != base::ErrorCode::corrupt) return base::propagate(known.error());
  if (!known || *known) return false;
  TRY(Change change, decide(email.email, event::Restored{email.history}, policy_, clock_.now()));
  return Restoration(*this, std::move(change)).run(email.payload, email.message);
}

}  // namespace postino::outbox
