#include "outbox/store_ledger/store_ledger.h"

#include <algorithm>

#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_counts.h"
#include "outbox/store_ledger/work_queue.h"

namespace postino::outbox {

namespace {

idempotency::GuardOptions guard_options(const StoreLedgerOptions& ledger) {
  idempotency::GuardOptions options;
  options.table = ledger.tables.accept_keys();
  options.lease = ledger.key_lease;
  return options;
}

}  // namespace

StoreLedger::StoreLedger(store::Store& store, Spool& spool, const base::Clock& clock, base::Random& random,
                         Patience patience, StoreLedgerOptions options)
    : store_(store),
      spool_(spool),
      clock_(clock),
      random_(random),
      patience_(std::move(patience)),
      options_(std::move(options)),
      accept_guard_(store, clock, random, guard_options(options_)) {
  for (const State state : all_states())
    if (kind_of(state) != StateKind::resting)
      for (int shard = 0; shard < shard_count; ++shard)
        queues_.emplace(queue_name(state, shard), std::make_unique<WorkQueue>(state, shard));
}

StoreLedger::~StoreLedger() = default;

base::Result<std::vector<Email>> StoreLedger::read(const std::vector<std::string>& ids) {
  std::vector<Email> emails;
  for (std::size_t begin = 0; begin < ids.size(); begin += store::max_batch_get_keys) {
    store::BatchGetItemRequest request;
    store::BatchGetTable table;
    table.table_name = options_.tables.emails;
    table.consistent_read = true;
    for (std::size_t i = begin; i < std::min(begin + store::max_batch_get_keys, ids.size()); ++i)
      table.keys.push_back(meta_key(ids[i]));
    request.tables.push_back(std::move(table));
    while (!request.tables.empty()) {
      auto answer = patience_([&] { return store_.batch_get_item(request); });
      if (!answer) return base::propagate(as_error(answer.error()));
      for (const auto& found : answer->tables)
        for (const item::Item& meta : found.items) {
          TRY(Email email, email_of(meta));
          emails.push_back(std::move(email));
        }
      request.tables = std::move(answer->unprocessed);
    }
  }
  // In the order they were asked for: oldest first stays oldest first.
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < ids.size(); ++i) places.emplace(ids[i], i);
  std::ranges::sort(emails, {}, [&](const Email& email) { return places[email.id]; });
  return emails;
}

base::Result<std::optional<Email>> StoreLedger::find(const std::string& id) {
  TRY(std::vector<Email> emails, read({id}));
  if (emails.empty()) return std::nullopt;
  return std::optional<Email>(std::move(emails.front()));
}

base::Result<std::vector<HistoryEntry>> StoreLedger::history(const std::string& id) {
  store::QueryRequest query;
  query.table_name = options_.tables.emails;
  query.key_condition = "Id = :id";
  query.placeholders.values = item::Map{{":id", id}};
  query.consistent_read = true;
  std::vector<HistoryEntry> entries;
  do {
    const auto page = patience_([&] { return store_.query(query); });
    if (!page) return base::propagate(as_error(page.error()));
    for (const item::Item& item : page->items)
      if (auto entry = history_entry_of(item)) entries.push_back(std::move(*entry));
    query.exclusive_start_key = page->last_evaluated_key;
  } while (query.exclusive_start_key);
  // A bounce has the version of the state it came in.
  std::ranges::stable_sort(entries, [](const HistoryEntry& a, const HistoryEntry& b) {
    return std::pair(a.version, a.at) < std::pair(b.version, b.at);
  });
  return entries;
}

store::TransactPut StoreLedger::put_line(const Email& email, const std::string& reason) const {
  store::TransactPut line;
  line.table_name = options_.tables.emails;
  line.item = state_item(email, reason, expiry_of(email));
  return line;
}

void StoreLedger::add_counts(const CountChanges& counts, store::TransactWriteItemsRequest& request) const {
  for (store::TransactAction& action :
       counts.actions(options_.tables.counts(), options_.keep, static_cast<int>(random_.next() % count_spread)))
    request.actions.push_back(std::move(action));
}

bool StoreLedger::condition_failed(const store::Error& error, std::size_t action) {
  return error.details != nullptr && action < error.details->reasons.size() &&
         error.details->reasons[action].code == "ConditionalCheckFailed";
}

base::Result<StoreLedger::Spooled> StoreLedger::spool(const SpoolObject& object) {
  if (auto action = spool_.as_action(object)) return Spooled{std::move(action->path), std::move(action->put)};
  TRY(std::string path, spool_.write(object));
  return Spooled{std::move(path), std::nullopt};
}

base::Result<Counts> StoreLedger::counts(const std::optional<std::string>& tenant) {
  const auto counts = patience_([&] { return read_counts(store_, options_.tables.counts(), tenant); });
  if (!counts) return base::propagate(as_error(counts.error()));
  return *counts;
}

base::Result<void> StoreLedger::touch(const Email& email, std::string update, item::Map values) {
  store::UpdateItemRequest request;
  request.table_name = options_.tables.emails;
  request.key = meta_key(email.id);
  request.update = std::move(update);
  request.condition = "Version = :seen";
  values.set(":seen", email.version);
  request.placeholders.values = std::move(values);
  const auto answer = patience_([&] { return store_.update_item(request); });
  if (!answer) return base::propagate(as_error(answer.error()));
  return {};
}

base::Result<void> StoreLedger::mark_outcome_unknown(const Email& email) {
  return touch(email, "SET OutcomeUnknown = :yes", {{":yes", true}});
}

base::Result<void> StoreLedger::postpone(const Email& email, base::TimePoint due) {
  return touch(email, "SET DueAt = :due", {{":due", base::epoch_milliseconds(due)}});
}

base::Result<void> StoreLedger::revive_callback(const Email& email, base::TimePoint due) {
  return touch(email, "SET DueAt = :due, Queue = :queue REMOVE CallbackDead, CallbackAttempts",
               {{":due", base::epoch_milliseconds(due)}, {":queue", queue_name(email.state, shard_of(email.id))}});
}

base::Result<std::vector<std::string>> StoreLedger::renew(const std::vector<Email>& emails, base::TimePoint until) {
  std::vector<std::string> kept;
  for (const Email& email : emails) {
    const auto renewed = postpone(email, until);
    if (renewed)
      kept.push_back(email.id);
    else if (renewed.error().code != base::ErrorCode::conflict)
      return base::propagate(renewed.error());
  }
  return kept;
}

base::Result<void> StoreLedger::record_bounce(const std::string& id, const Bounce& bounce) {
  constexpr int rounds = 8;  // the e-mail may move on between the look and the write
  for (int round = 0; round < rounds; ++round) {
    TRY(std::optional<Email> email, find(id));
    if (!email) return base::fail(base::ErrorCode::not_found, "there is no e-mail " + id);
    const std::size_t known = email->bounces.size();
    if (known >= max_bounces) return {};
    email->bounces.push_back(bounce);
    store::TransactWriteItemsRequest request;
    store::TransactUpdate update;
    update.table_name = options_.tables.emails;
    update.key = meta_key(id);
    update.update = "SET Bounces = :bounces";
    update.condition = store::ConditionExpression(known == 0 ? "Version = :seen AND attribute_not_exists(Bounces)"
                                                             : "Version = :seen AND size(Bounces) = :known");
    const item::Item meta = meta_item(*email, expiry_of(*email));
    update.placeholders.values = item::Map{{":bounces", *meta.find("Bounces")}, {":seen", email->version}};
    if (known > 0) update.placeholders.values->set(":known", static_cast<std::int64_t>(known));
    request.actions.emplace_back(std::move(update));
    store::TransactPut put;
    put.table_name = options_.tables.emails;
    put.item = bounce_item(*email, bounce, expiry_of(*email));
    request.actions.emplace_back(std::move(put));
    const auto answer = patience_([&] { return store_.transact_write_items(request); });
    if (answer) return {};
    if (answer.error().type != store::ErrorType::transaction_canceled) return base::propagate(as_error(answer.error()));
  }
  return base::fail(base::ErrorCode::exhausted, "e-mail " + id + " changes too fast");
}

}  // namespace postino::outbox
