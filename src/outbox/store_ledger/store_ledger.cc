#include "outbox/store_ledger/store_ledger.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/log.h"
#include "outbox/ledger/newest_lines.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/foreign_email.h"
#include "outbox/store_ledger/store_counts.h"
#include "outbox/store_ledger/work_queue.h"

namespace postino::outbox {

namespace {

idempotency::GuardOptions accept_guard_options(const StoreTables& tables, const Policy& policy) {
  idempotency::GuardOptions options;
  options.table = tables.accept_keys();
  options.lease = policy.lease;  // of an acceptance that takes several commits
  return options;
}

std::vector<std::string> each_once(const std::vector<std::string>& texts) {
  std::set<std::string_view> seen;
  std::vector<std::string> once;
  for (const std::string& text : texts)
    if (seen.insert(text).second) once.push_back(text);
  return once;
}

}  // namespace

StoreLedger::StoreLedger(store::Store& store, StoreTables tables, const Policy& policy, const base::Clock& clock,
                         base::Random& random, const store::Retry& retry, std::unique_ptr<Spool> elsewhere,
                         StoreLedgerOptions options)
    : store_(store),
      tables_(std::move(tables)),
      policy_(policy),
      clock_(clock),
      random_(random),
      retry_(retry),
      own_spool_(store, tables_.spool(), random, retry),
      elsewhere_(std::move(elsewhere)),
      lives_(store, tables_, retry, elsewhere_ == nullptr),
      accept_guard_(store, clock, random, accept_guard_options(tables_, policy)),
      options_(std::move(options)),
      shards_(store_, {tables_.emails, shards_key()}, options_.shards, least_shards, retry_) {
  if (elsewhere_) both_spools_.emplace(*elsewhere_, own_spool_);
  for (const State state : all_states())
    if (kind_of(state) != StateKind::resting)
      for (int shard = 0; shard < store::most_shards; ++shard)
        queues_.emplace(queue_name(state, shard), std::make_unique<WorkQueue>(state, shard));
}

StoreLedger::~StoreLedger() = default;

base::Result<std::vector<Email>> StoreLedger::read(const std::vector<std::string>& wanted) {
  // Another program can put several records of one e-mail into a queue; the store takes each key once.
  const std::vector<std::string> ids = each_once(wanted);
  std::vector<Email> emails;
  for (std::size_t begin = 0; begin < ids.size(); begin += store::max_batch_get_keys) {
    store::BatchGetItemRequest request;
    store::BatchGetTable table;
    table.table_name = tables_.emails;
    table.consistent_read = true;
    for (std::size_t i = begin; i < std::min(begin + store::max_batch_get_keys, ids.size()); ++i)
      table.keys.push_back(meta_key(ids[i]));
    request.tables.push_back(std::move(table));
    while (!request.tables.empty()) {
      auto answer = retry_([&] { return store_.batch_get_item(request); });
      if (!answer) return base::propagate(store::as_error(answer.error()));
      for (const auto& found : answer->tables)
        for (const item::Item& meta : found.items) {
          auto email = email_of(meta);
          if (!email) {
            // Adoption says whether it can be read.
            if (waits_for_adoption(meta)) {
              std::ignore = find_foreign(meta);  // of the others its trouble is none
              continue;
            }
            malformed_.note(meta.find("Id")->as<std::string>(), email.error());
            continue;
          }
          malformed_.forget(email->id);
          emails.push_back(*std::move(email));
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
  TRY(const std::vector<item::Item> metas, read_metas({id}));
  if (metas.empty()) {
    malformed_.forget(id);
    return std::nullopt;
  }
  if (needs_adoption(metas.front())) return find_foreign(metas.front());
  auto email = email_of(metas.front());
  if (!email) {
    malformed_.note(id, email.error());
    return base::propagate(email.error());
  }
  malformed_.forget(id);
  return std::optional<Email>(*std::move(email));
}

base::Result<std::vector<HistoryEntry>> StoreLedger::history(const std::string& id) {
  store::QueryRequest query;
  query.table_name = tables_.emails;
  query.key_condition = "Id = :id";
  query.placeholders.values = item::Map{{":id", id}};
  query.consistent_read = true;
  NewestLines lines;  // the order of the records is not that of time
  do {
    const auto page = retry_([&] { return store_.query(query); });
    if (!page) return base::propagate(store::as_error(page.error()));
    for (const item::Item& item : page->items)
      if (auto entry = history_entry_of(item)) lines.add(std::move(*entry));
    query.exclusive_start_key = page->last_evaluated_key;
  } while (query.exclusive_start_key);
  return std::move(lines).take();
}

store::TransactPut StoreLedger::put_line(const Email& email, const NewLine& line) const {
  store::TransactPut put;
  put.table_name = tables_.emails;
  put.item = line_item(email.id, line, life_of(email));
  return put;
}

void StoreLedger::add_counts(const CountChanges& counts, store::TransactWriteItemsRequest& request) const {
  for (store::TransactAction& action :
       counts.actions(tables_.counts(), policy_.keep, static_cast<int>(random_.next() % count_spread)))
    request.actions.push_back(std::move(action));
}

bool StoreLedger::condition_failed(const store::Error& error, std::size_t action) {
  return error.details != nullptr && action < error.details->reasons.size() &&
         error.details->reasons[action].code == "ConditionalCheckFailed";
}

base::Result<StoreLedger::Spooled> StoreLedger::put_away(const SpoolObject& object, bool is_email_finished) {
  const bool expires = is_email_finished || !is_shared();
  if (!elsewhere_)
    if (auto placed = own_spool_.place(object, expires))
      return Spooled{std::move(placed->path), std::move(placed->put)};
  TRY(std::string path, elsewhere_ ? elsewhere_->write(object) : own_spool_.write(object, expires));
  return Spooled{std::move(path), std::nullopt};
}

base::Result<Counts> StoreLedger::counts(const std::optional<std::string>& tenant) {
  const auto counts = retry_([&] { return read_counts(store_, tables_.counts(), tenant); });
  if (!counts) return base::propagate(store::as_error(counts.error()));
  return *counts;
}

// A callback that was given up had finished the e-mail. Where that has begun the life of its records, replaying it ends
// that in the same commit.
store::Answer<void> StoreLedger::write_amendment(const Change& change) {
  if (!changes_lives(change)) {
    const store::UpdateItemRequest request = meta_amendment(tables_.emails, change, shards_.most());
    TRY_VOID(retry_([&] { return store_.update_item(request); }));
    return {};
  }
  const RecordLife life = life_of(change.after);
  store::UpdateItemRequest amendment = meta_amendment(tables_.emails, change, shards_.most(), life);
  if (!life.has_begun) {
    const auto rest = lives_.write_rest(change.before, life);
    if (!rest) return store::refuse(store::ErrorType::service_unavailable, rest.error().message);
  }
  store::TransactUpdate meta;
  meta.table_name = std::move(amendment.table_name);
  meta.key = std::move(amendment.key);
  meta.update = std::move(amendment.update);
  meta.condition = std::move(amendment.condition);
  meta.placeholders = std::move(amendment.placeholders);
  store::TransactWriteItemsRequest request;
  request.actions.emplace_back(std::move(meta));
  for (store::TransactUpdate& update : lives_.in_commit(change.before, life))
    request.actions.emplace_back(std::move(update));
  TRY_VOID(retry_([&] { return store_.transact_write_items(request); }));
  if (life.has_begun) write_rest_of_lives(change.before, life);
  return {};
}

// What has no end in the end takes room, and does no harm otherwise.
void StoreLedger::write_rest_of_lives(const Email& email, const RecordLife& life) const {
  if (const auto written = lives_.write_rest(email, life); !written)
    base::log_warning("outbox", "some records of a finished e-mail were not told when to expire",
                      {{"id", email.id}, {"error", written.error().message}});
}

base::Result<std::vector<std::string>> StoreLedger::amend(const std::vector<Change>& changes) {
  std::vector<std::string> written;
  for (const Change& change : changes) {
    const auto answer = write_amendment(change);
    if (answer) {
      written.push_back(change.after.id);
      continue;
    }
    const base::Error error = store::as_error(answer.error());
    if (error.code != base::ErrorCode::conflict) return base::propagate(error);
  }
  return written;
}

base::Result<std::map<std::string, Acceptance>> StoreLedger::acceptances(const std::vector<std::string>& wanted) {
  std::map<std::string, Acceptance> found;
  const std::vector<std::string> ids = each_once(wanted);
  for (std::size_t begin = 0; begin < ids.size(); begin += store::max_batch_get_keys) {
    const auto first = ids.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto size = static_cast<std::ptrdiff_t>(std::min(store::max_batch_get_keys, ids.size() - begin));
    TRY(const std::vector<item::Item> metas, read_metas({first, first + size}));
    for (const item::Item& meta : metas) {
      const std::string& id = meta.find("Id")->as<std::string>();
      // One of another program has no token: it is only known to be there.
      auto email = needs_adoption(meta) ? foreign_email_of(meta, clock_.now()) : email_of(meta);
      if (email) found.emplace(id, Acceptance{std::move(email->acceptance_token), email->created_at});
    }
  }
  return found;
}

// It is where things expire anyway, and no key is called so.
base::Result<void> StoreLedger::try_write() {
  store::PutItemRequest put;
  put.table_name = tables_.accept_keys();
  put.item = item::Item{{"pk", "WRITE-TEST"}, {"ttl", base::epoch_seconds(clock_.now() + std::chrono::hours(24))}};
  const auto answer = store_.put_item(put);
  if (!answer) return base::propagate(store::as_error(answer.error()));
  return {};
}

base::Result<void> StoreLedger::record_bounce(const std::string& id, const Bounce& bounce) {
  constexpr int rounds = 8;  // the e-mail may move on between the look and the write
  for (int round = 0; round < rounds; ++round) {
    TRY(std::optional<Email> email, find(id));
    if (!email) return base::fail(base::ErrorCode::not_found, "there is no e-mail " + id);
    TRY(const Change change, decide(*std::move(email), event::Bounced{bounce}, policy_, clock_.now()));
    if (change.lines.empty()) return {};
    store::TransactWriteItemsRequest request;
    request.actions.emplace_back(bounces_update(tables_.emails, change));
    request.actions.emplace_back(put_line(change.after, change.lines.front()));
    const auto answer = retry_([&] { return store_.transact_write_items(request); });
    if (answer) return {};
    if (answer.error().type != store::ErrorType::transaction_canceled)
      return base::propagate(store::as_error(answer.error()));
  }
  return base::fail(base::ErrorCode::exhausted, "e-mail " + id + " changes too fast");
}

}  // namespace postino::outbox
