// Claims: what is due is read from the work index, and moved into its working state with a lease.
#include <algorithm>
#include <utility>

#include "outbox/email/last_time.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/foreign_email.h"
#include "outbox/store_ledger/work_queue.h"

namespace postino::outbox {

store::Answer<std::vector<StoreLedger::WorkEntry>> StoreLedger::read_queue(const std::string& queue,
                                                                           base::TimePoint from, int limit,
                                                                           const std::optional<item::Key>& after) {
  store::QueryRequest query;
  query.table_name = tables_.emails;
  query.index_name = std::string(work_index);
  query.key_condition = "Queue = :queue AND DueAt >= :from";
  query.placeholders.values = item::Map{{":queue", queue}, {":from", base::epoch_milliseconds(from)}};
  query.limit = limit;
  query.exclusive_start_key = after;
  TRY(const store::PageResponse page, store_.query(query));
  std::vector<WorkEntry> entries;
  for (const item::Item& item : page.items) {
    WorkEntry entry{item.find("Id")->as<std::string>(),
                    base::from_epoch_milliseconds(item.find("DueAt")->as<item::Number>().to_int64().value_or(0)),
                    {}};
    for (const std::string_view name : {"Id", "Status", "Queue", "DueAt"})
      entry.key.set(std::string(name), *item.find(name));
    entries.push_back(std::move(entry));
  }
  return entries;
}

// On a shared store at the beginning: an index that is late shows entries behind the point that was reached, and what
// was deleted costs nothing.
base::TimePoint StoreLedger::start_of(const WorkQueue& queue, store::QueueCursor::Steady::time_point now) const {
  return is_shared() ? base::TimePoint() : queue.cursor.start(now);
}

// Another program can write any number. No e-mail is due before 1970 or after the year 9999: such records are
// read, so that they are told of as malformed.
base::Result<void> StoreLedger::look_for_impossible_times(WorkQueue& queue) {
  constexpr std::int64_t earliest = 0;
  constexpr base::Milliseconds interval = std::chrono::seconds(5);
  // Each look is paid for, and each process looks.
  constexpr base::Milliseconds interval_of_shared = std::chrono::minutes(10);
  constexpr int most = 100;
  const base::Milliseconds now = clock_.monotonic();
  if (now < queue.next_look) return {};
  queue.next_look = now + (is_shared() ? interval_of_shared : interval);
  std::vector<std::string> ids;
  for (const bool early : {true, false}) {
    store::QueryRequest query;
    query.table_name = tables_.emails;
    query.index_name = std::string(work_index);
    query.key_condition = early ? "Queue = :queue AND DueAt < :limit" : "Queue = :queue AND DueAt > :limit";
    query.placeholders.values = item::Map{{":queue", queue.name}, {":limit", early ? earliest : last_millisecond}};
    query.limit = most;
    const auto page = retry_([&] { return store_.query(query); });
    if (!page) return base::propagate(store::as_error(page.error()));
    for (const item::Item& item : page->items) ids.push_back(item.find("Id")->as<std::string>());
  }
  TRY_VOID(read(ids));
  return {};
}

base::Result<std::vector<Email>> StoreLedger::find_due(WorkQueue& queue, int wanted,
                                                       const std::set<std::string>& except, Claim& claim) {
  constexpr int most_pages = 50;
  const auto began = store::QueueCursor::Steady::now();
  const base::TimePoint start = start_of(queue, began);
  const base::TimePoint now = clock_.now();
  TRY_VOID(look_for_impossible_times(queue));
  // One more than wanted is read, to see whether there is more.
  const int limit = wanted + static_cast<int>(except.size()) + 1;
  std::vector<Email> emails;
  std::optional<item::Key> after;
  bool saw_all = false;
  // Entries of e-mails that cannot be read, or that another program has moved on, stay where they are: behind many of
  // them that were due at the same time, others must be found.
  for (int page = 0; page < most_pages && emails.empty() && !saw_all; ++page) {
    auto entries = retry_([&] { return read_queue(queue.name, start, limit, after); });
    if (!entries) return base::propagate(store::as_error(entries.error()));
    const auto first_not_due = std::ranges::find_if(*entries, [&](const WorkEntry& entry) { return entry.due > now; });
    if (first_not_due != entries->end())
      claim.next_due = std::min(claim.next_due.value_or(first_not_due->due), first_not_due->due);
    saw_all = first_not_due != entries->end() || static_cast<int>(entries->size()) < limit;
    entries->erase(first_not_due, entries->end());
    if (!entries->empty()) after = entries->back().key;
    std::erase_if(*entries, [&](const WorkEntry& entry) { return except.contains(entry.id); });
    const bool more = entries->size() > static_cast<std::size_t>(wanted);
    if (more) {
      saw_all = false;
      entries->resize(static_cast<std::size_t>(wanted));
      after = entries->back().key;
    }
    if (saw_all || !entries->empty())
      queue.cursor.found(start, saw_all ? now : entries->back().due, began, store::QueueCursor::Steady::now());
    std::vector<std::string> ids;
    for (const WorkEntry& entry : *entries) ids.push_back(entry.id);
    TRY(emails, read(ids));
    // On a remote store the work index is a little late.
    std::erase_if(emails, [&](const Email& email) { return email.state != queue.state || !is_due(email, now); });
    if (more && !emails.empty()) claim.more = true;
  }
  return emails;
}

base::Result<QueuePage> StoreLedger::read_page(const WorkQueue& queue, const QueuePosition& after, int limit,
                                               Claim& claim) {
  const base::TimePoint now = clock_.now();
  std::optional<item::Key> key;
  if (!after.id.empty()) {
    key = meta_key(after.id);
    key->set("Queue", queue.name);
    key->set("DueAt", base::epoch_milliseconds(after.due));
  }
  auto entries = retry_([&] { return read_queue(queue.name, after.due, limit, key); });
  if (!entries) return base::propagate(store::as_error(entries.error()));
  const auto first_not_due = std::ranges::find_if(*entries, [&](const WorkEntry& entry) { return entry.due > now; });
  if (first_not_due != entries->end())
    claim.next_due = std::min(claim.next_due.value_or(first_not_due->due), first_not_due->due);
  QueuePage page;
  page.is_last = first_not_due != entries->end() || static_cast<int>(entries->size()) < limit;
  entries->erase(first_not_due, entries->end());
  std::vector<std::string> ids;
  for (const WorkEntry& entry : *entries) ids.push_back(entry.id);
  TRY(std::vector<Email> emails, read(ids));
  auto email = emails.begin();  // those that can be read, in the order of the ids
  for (const WorkEntry& entry : *entries) {
    QueueEntry& next = page.entries.emplace_back(QueueEntry{{entry.due, entry.id}, std::nullopt});
    if (email == emails.end() || email->id != entry.id) continue;
    // On a remote store the work index is a little late.
    if (email->state == queue.state && is_due(*email, now)) next.email = std::move(*email);
    ++email;
  }
  return page;
}

base::Result<std::vector<Email>> StoreLedger::find_wanted(WorkQueue& queue, int wanted, const Choice& choice,
                                                          Claim& claim) {
  const auto began = store::QueueCursor::Steady::now();
  const base::TimePoint start = start_of(queue, began);
  TRY_VOID(look_for_impossible_times(queue));
  TRY(QueueReader::Chosen chosen,
      queue.reader.choose(
          wanted, choice, [&](const QueuePosition& after, int limit) { return read_page(queue, after, limit, claim); },
          clock_.now()));
  claim.more |= chosen.more;
  queue.cursor.found(start, queue.reader.first_left(), began, store::QueueCursor::Steady::now());
  return std::move(chosen.emails);
}

// Each claim begins with another queue, so that no state and no shard waits behind one that is never empty.
std::vector<StoreLedger::WorkQueue*> StoreLedger::queues_to_claim(Pipeline pipeline) {
  std::vector<WorkQueue*> queues;
  const int shards = shards_.most();
  for (int shard = 0; shard < shards; ++shard)
    for (const State state : states_claimed_by(pipeline))
      queues.push_back(queues_.find(queue_name(state, shard))->second.get());
  // Processes that went round in the same order would meet in every queue.
  const std::uint64_t first = is_shared() ? random_.next() : next_queue_++;
  std::ranges::rotate(queues, queues.begin() + static_cast<std::ptrdiff_t>(first % queues.size()));
  if (!is_shared()) return queues;
  const base::Milliseconds now = clock_.monotonic();
  std::ranges::stable_partition(queues, [&](const WorkQueue* queue) { return queue->left_until.load() <= now; });
  return queues;
}

// Others have taken what was read here: for a moment they are left alone, and other queues come first.
void StoreLedger::note_late(WorkQueue& queue, std::size_t wanted, std::size_t taken) {
  constexpr std::uint64_t longest = 1'000;
  if (is_shared() && taken < wanted)
    queue.left_until = clock_.monotonic() + base::Milliseconds(random_.next() % longest);
}

base::Result<Claim> StoreLedger::gather(Pipeline pipeline, int limit, const Find& find, const Take& take) {
  adopt_marked();
  Claim claim;
  std::vector<WorkQueue*> busy;  // another thread is reading them; they come last
  for (const bool waiting : {false, true}) {
    const std::vector<WorkQueue*> queues = waiting ? std::exchange(busy, {}) : queues_to_claim(pipeline);
    for (WorkQueue* queue : queues) {
      const int wanted = limit - static_cast<int>(claim.emails.size());
      if (wanted <= 0) {
        claim.more = true;  // perhaps: the queues that were not read may be empty
        return claim;
      }
      std::unique_lock turn(queue->turn, std::defer_lock);
      if (waiting)
        turn.lock();
      else if (!turn.try_lock()) {
        busy.push_back(queue);
        continue;
      }
      auto due = find(*queue, wanted, claim);
      const std::size_t found = due ? due->size() : 0;
      auto taken = due ? take(*queue, std::move(*due)) : std::move(due);
      if (taken) note_late(*queue, found, taken->size());
      if (!taken) queue->reader.sweep_next();
      // What was claimed before a queue could not be read is claimed: it must be worked on.
      if (!taken && claim.emails.empty()) return base::propagate(taken.error());
      if (!taken) return claim;
      std::ranges::move(*taken, std::back_inserter(claim.emails));
    }
  }
  return claim;
}

base::Result<std::vector<Email>> StoreLedger::take_claimed(WorkQueue& queue, std::vector<Email> due,
                                                           const std::string& owner) {
  const base::TimePoint now = clock_.now();
  std::vector<Change> changes;
  for (Email& email : due)
    if (auto change = decide(std::move(email), event::Claimed{owner}, policy_, now))
      changes.push_back(*std::move(change));
  std::vector<Email> claimed;
  std::string trouble;
  for (MoveOutcome& outcome : move(std::move(changes))) {
    if (outcome.status == MoveStatus::failed) trouble = outcome.error;
    if (outcome.status == MoveStatus::done) claimed.push_back(std::move(outcome.email));
  }
  // Those that could not be claimed wait behind what the reader has read.
  if (!trouble.empty()) queue.reader.sweep_next();
  if (claimed.empty() && !trouble.empty()) return base::fail(base::ErrorCode::io, trouble);
  return claimed;
}

base::Result<Claim> StoreLedger::claim(Pipeline pipeline, int limit, const std::string& owner) {
  return gather(
      pipeline, limit, [&](WorkQueue& queue, int wanted, Claim& claim) { return find_due(queue, wanted, {}, claim); },
      [&](WorkQueue& queue, std::vector<Email> due) { return take_claimed(queue, std::move(due), owner); });
}

base::Result<Claim> StoreLedger::claim(Pipeline pipeline, int limit, const std::string& owner, const Choice& choice) {
  return gather(
      pipeline, limit,
      [&](WorkQueue& queue, int wanted, Claim& claim) { return find_wanted(queue, wanted, choice, claim); },
      [&](WorkQueue& queue, std::vector<Email> due) { return take_claimed(queue, std::move(due), owner); });
}

base::Result<Claim> StoreLedger::due(Pipeline pipeline, int limit, const std::set<std::string>& except) {
  return gather(
      pipeline, limit,
      [&](WorkQueue& queue, int wanted, Claim& claim) { return find_due(queue, wanted, except, claim); },
      [](WorkQueue&, std::vector<Email> due) -> base::Result<std::vector<Email>> { return due; });
}

base::Milliseconds StoreLedger::longest_lease(const Email& email) const {
  return email.owner == foreign_owner ? std::max(policy_.lease, policy_.foreign_lease) : policy_.lease;
}

// Leases that a clock which was ahead has granted are at the other end of the queue.
base::Result<void> StoreLedger::add_ended_leases(const WorkQueue& queue, std::vector<WorkEntry> entries,
                                                 base::TimePoint before, int limit, std::vector<Email>& ended) {
  const base::TimePoint last_millisecond = latest_lease_end(before, policy_.lease);
  const std::size_t wanted = static_cast<std::size_t>(limit) - ended.size();
  const bool are_all = entries.size() < wanted;
  std::erase_if(entries, [&](const WorkEntry& entry) {
    return entry.due >= before && (!are_all || entry.due <= last_millisecond);
  });
  if (!are_all && entries.size() < wanted) {
    const int left = static_cast<int>(wanted - entries.size());
    const auto last = retry_([&] { return read_queue(queue.name, last_millisecond + base::Milliseconds(1), left); });
    if (!last) return base::propagate(store::as_error(last.error()));
    entries.insert(entries.end(), last->begin(), last->end());
  }
  std::vector<std::string> ids;
  for (const WorkEntry& entry : entries) ids.push_back(entry.id);
  TRY(std::vector<Email> emails, read(ids));
  for (Email& email : emails)
    if (email.state == queue.state &&
        (is_lease_over(email, before) || is_lease_impossible(email, before, longest_lease(email))))
      ended.push_back(std::move(email));
  return {};
}

base::Result<std::vector<Email>> StoreLedger::find_ended_leases(base::TimePoint before, int limit) {
  std::vector<Email> ended;
  for (const auto& [name, queue] : queues_) {
    const int wanted = limit - static_cast<int>(ended.size());
    if (wanted <= 0) break;
    if (kind_of(queue->state) != StateKind::working || queue->shard >= shards_.most()) continue;
    const std::lock_guard turn(queue->turn);
    TRY_VOID(look_for_impossible_times(*queue));
    const auto began = store::QueueCursor::Steady::now();
    const base::TimePoint start = start_of(*queue, began);
    const auto entries = retry_([&] { return read_queue(name, start, wanted); });
    if (!entries) return base::propagate(store::as_error(entries.error()));
    const bool saw_all = static_cast<int>(entries->size()) < wanted || entries->back().due >= before;
    queue->cursor.found(start, saw_all ? before : entries->back().due, began, store::QueueCursor::Steady::now());
    TRY_VOID(add_ended_leases(*queue, *entries, before, limit, ended));
  }
  return ended;
}

base::Result<std::vector<Email>> StoreLedger::stale(base::TimePoint before, int limit) {
  std::vector<Email> ended;
  for (const auto& [name, queue] : queues_) {
    const int wanted = limit - static_cast<int>(ended.size());
    if (wanted <= 0) break;
    if (kind_of(queue->state) != StateKind::working || queue->shard >= shards_.most()) continue;
    const auto entries = retry_([&] { return read_queue(name, base::TimePoint(), wanted); });
    if (!entries) return base::propagate(store::as_error(entries.error()));
    TRY_VOID(add_ended_leases(*queue, *entries, before, limit, ended));
  }
  return ended;
}

base::Result<std::optional<base::TimePoint>> StoreLedger::oldest_due(Pipeline pipeline) {
  std::optional<base::TimePoint> oldest;
  for (const State state : states_claimed_by(pipeline))
    for (int shard = 0; shard < shards_.most(); ++shard) {
      WorkQueue& queue = *queues_.find(queue_name(state, shard))->second;
      std::unique_lock turn(queue.turn);
      const base::TimePoint start = start_of(queue, store::QueueCursor::Steady::now());
      turn.unlock();  // a mere look does not keep claimers waiting
      const auto entries = retry_([&] { return read_queue(queue.name, start, 1); });
      if (!entries) return base::propagate(store::as_error(entries.error()));
      if (!entries->empty() && (!oldest || entries->front().due < *oldest)) oldest = entries->front().due;
    }
  return oldest;
}

}  // namespace postino::outbox
