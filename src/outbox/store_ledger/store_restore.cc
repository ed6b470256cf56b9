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
  Restoration(StoreLedger& ledger, const StoredEmail& stored)
      : ledger_(ledger), stored_(stored), email_(stored.email), expires_(ledger.expiry_of(email_)) {}

  base::Result<bool> run() {
    TRY_VOID(spool_contents());
    make_lines();
    // Lines without metadata are nobody's: they can be written first, and again when this is broken off.
    while (lines_.size() > max_lines) {
      TRY(const bool absent, commit(take_lines(), absence()));
      if (!absent) return false;
    }
    return commit(take_lines(), metadata());
  }

 private:
  base::Result<void> spool_contents() {
    SpoolObject object{SpoolKind::payload, email_.id, email_.created_at, stored_.payload, expires_};
    TRY(payload_, ledger_.spool(object));
    email_.payload_path = payload_.path;
    email_.message_path.clear();
    if (!stored_.message) return {};
    object.kind = SpoolKind::message;
    object.bytes = *stored_.message;
    TRY(message_, ledger_.spool(object));
    email_.message_path = message_.path;
    return {};
  }

  // Later visits to a state have records of their own, counted by the lines: the next one must not meet any of them.
  void make_lines() {
    std::map<std::string_view, int> times;
    for (const HistoryEntry& line : stored_.history) {
      store::TransactPut put;
      put.table_name = ledger_.options_.tables.emails;
      put.item = line_item(email_.id, line, ++times[line.status], expires_);
      lines_.push_back(std::move(put));
      if (const auto state = parse_state(line.status)) {
        int& reached = email_.reached[static_cast<std::size_t>(*state)];
        reached = std::max(reached, times[line.status]);
      }
    }
  }

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
    check.table_name = ledger_.options_.tables.emails;
    check.key = meta_key(email_.id);
    check.condition = "attribute_not_exists(Id)";
    request.actions.emplace_back(std::move(check));
    return request;
  }

  store::TransactWriteItemsRequest metadata() const {
    store::TransactWriteItemsRequest request;
    store::TransactPut meta;
    meta.table_name = ledger_.options_.tables.emails;
    meta.item = meta_item(email_, expires_);
    meta.condition = "attribute_not_exists(Id)";
    request.actions.emplace_back(std::move(meta));
    if (payload_.put) request.actions.emplace_back(*payload_.put);
    if (message_.put) request.actions.emplace_back(*message_.put);
    CountChanges counts;
    counts.entered(email_);
    ledger_.add_counts(counts, request);
    return request;
  }

  // The first action of the request is the one with the condition. False when it is not met.
  base::Result<bool> commit(std::vector<store::TransactPut> lines, store::TransactWriteItemsRequest request) {
    for (store::TransactPut& line : lines) request.actions.emplace_back(std::move(line));
    const auto answer = ledger_.patience_([&] { return ledger_.store_.transact_write_items(request); });
    if (answer) return true;
    if (answer.error().type != store::ErrorType::transaction_canceled || !condition_failed(answer.error(), 0))
      return base::propagate(as_error(answer.error()));
    return met_another();
  }

  // There is one after all. A repeated request may have met what it wrote itself.
  base::Result<bool> met_another() {
    TRY(const std::optional<Email> known, ledger_.find(email_.id));
    if (known == email_) return true;
    // What is in the spool although nobody names it. It would expire anyway.
    for (const Spooled* object : {&payload_, &message_})
      if (!object->path.empty() && !object->put &&
          (!known || (known->payload_path != object->path && known->message_path != object->path)))
        (void)ledger_.spool_.remove(object->path);
    return false;
  }

  StoreLedger& ledger_;
  const StoredEmail& stored_;
  Email email_;
  const base::TimePoint expires_;
  Spooled payload_;
  Spooled message_;
  std::vector<store::TransactPut> lines_;
};

base::Result<bool> StoreLedger::restore(const StoredEmail& email) {
  const auto known = find(email.email.id);
  // What cannot be read is another program's, and is not overwritten either.
  if (!known && known.error().code != base::ErrorCode::corrupt) return base::propagate(known.error());
  if (!known || *known) return false;
  return Restoration(*this, email).run();
}

}  // namespace postino::outbox
