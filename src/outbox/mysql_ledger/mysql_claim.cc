// Claims: what is due is found through an index by shard and due time, and taken in the transaction that found it.
#include <algorithm>
#include <utility>

#include "outbox/mysql_ledger/mysql_work_conditions.h"
#include "outbox/mysql_ledger/mysql_work_queue.h"

namespace postino::outbox {

using mysql::Attempt;
using mysql::Connection;

namespace {

// Of one shard, from a moment on.
std::string queue_condition(State state) {
  return " FROM emails FORCE INDEX (idx_work) WHERE " + waits_in(state) + " AND shard = ? AND due_ms >= ?";
}

// The index has them in this order, so nothing is sorted.
std::string select_due(State state) {
  return "SELECT " + email_columns + queue_condition(state) + " AND " + is_due_condition +
         " ORDER BY due_ms, id LIMIT ?";
}

}  // namespace

// One transaction: locks what is due and not locked by others, and moves it into its working state.
class MysqlLedger::ClaimWriter {
 public:
  ClaimWriter(MysqlLedger& ledger, const WorkQueue& queue, base::TimePoint start, int wanted, const std::string& owner)
      : ledger_(ledger),
        queue_(queue),
        start_(start),
        wanted_(wanted),
        owner_(owner),
        transition_(ledger.new_transition()) {}

  base::Result<void> commit() {
    const CountLanes::Lane lane(ledger_.lanes_);
    const auto done = ledger_.database_.transact(
        [&](Connection& connection, const Attempt& attempt) { return take(connection, attempt, lane.slice()); });
    if (!done) return base::propagate(mysql::as_error(done.error()));
    return {};
  }

  std::vector<Email> claimed() {
    std::vector<Email> emails;
    for (Change& change : changes_) emails.push_back(std::move(change.after));
    return emails;
  }
  // E-mails of other programs that must be adopted before they can be claimed.
  const std::vector<EmailRow>& to_adopt() const { return to_adopt_; }
  bool full() const { return full_; }
  base::TimePoint now() const { return now_; }
  // Of the last one seen.
  base::TimePoint last_due() const { return last_due_; }

 private:
  mysql::Result<void> take(Connection& connection, const Attempt& attempt, std::size_t slice) {
    if (attempt.commit_unknown) {
      TRY(const bool committed, earlier_attempt_committed(connection));
      if (committed) return {};
    }
    TRY_VOID(lock(connection));
    if (changes_.empty()) return {};
    std::vector<const Change*> changes;
    for (const Change& change : changes_) changes.push_back(&change);
    return ledger_.write_moves(connection, changes, counted_as_, transition_, slice);
  }

  mysql::Result<void> lock(Connection& connection) {
    changes_.clear();
    counted_as_.clear();
    to_adopt_.clear();
    now_ = ledger_.clock_.now();
    const int limit = wanted_ + ledger_.spare_rows();
    TRY(const mysql::Rows rows,
        connection.query(select_due(queue_.state) + " FOR UPDATE SKIP LOCKED",
                         {queue_.shard, base::epoch_milliseconds(start_), base::epoch_milliseconds(now_), limit}));
    full_ = static_cast<int>(rows.size()) == limit;
    for (const mysql::Row row : rows) {
      if (static_cast<int>(changes_.size() + to_adopt_.size()) == wanted_) {
        full_ = true;
        break;
      }
      last_due_ = due_of(row);
      auto email = ledger_.readable(row);
      if (!email) continue;  // it must not keep back those behind it
      if (needs_adoption(*email)) {
        to_adopt_.push_back(std::move(*email));
        continue;
      }
      auto change = decide(std::move(email->email), event::Claimed{owner_}, ledger_.policy_, now_);
      if (!change) continue;
      counted_as_.push_back(email->counted_as);
      changes_.push_back(*std::move(change));
    }
    return {};
  }

  // The changes are still those of the attempt whose end is not known.
  mysql::Result<bool> earlier_attempt_committed(Connection& connection) {
    std::vector<std::string> ids;
    for (const Change& change : changes_) ids.push_back(change.after.id);
    if (ids.empty()) return false;
    // It may be about to: then this waits for it.
    TRY_VOID(connection.query("SELECT id FROM emails FORCE INDEX (PRIMARY) WHERE id IN " + placeholders(ids.size()) +
                                  " ORDER BY id FOR UPDATE",
                              std::vector<mysql::Parameter>(ids.begin(), ids.end())));
    return was_committed(connection, ids, transition_);
  }

  MysqlLedger& ledger_;
  const WorkQueue& queue_;
  const base::TimePoint start_;
  const int wanted_;
  const std::string& owner_;
  const std::int64_t transition_;
  std::vector<Change> changes_;
  std::vector<std::optional<State>> counted_as_;
  std::vector<EmailRow> to_adopt_;
  bool full_ = false;
  base::TimePoint now_;
  base::TimePoint last_due_;
};

base::Result<bool> MysqlLedger::take_claimed(WorkQueue& queue, int wanted, const std::string& owner, Claim& claim) {
  const auto began = store::QueueCursor::Steady::now();
  const base::TimePoint start = queue.start(began);
  const int spare = spare_rows();
  ClaimWriter batch(*this, queue, start, std::min(wanted, static_cast<int>(max_ledger_batch)), owner);
  TRY_VOID(batch.commit());
  const std::size_t before = claim.emails.size();
  std::ranges::move(batch.claimed(), std::back_inserter(claim.emails));
  if (!batch.to_adopt().empty()) {
    TRY(const bool some, adopt(batch.to_adopt()));
    if (some) return true;  // they are still there, and can be claimed now
  }
  queue.found(start, batch.full() ? batch.last_due() : batch.now(), began);
  // What cannot be adopted now is not looked at again. Malformed rows that are new are looked past the next time.
  return batch.full() && (claim.emails.size() > before || spare_rows() > spare);
}

base::Result<bool> MysqlLedger::take_seen(WorkQueue& queue, int wanted, const std::set<std::string>& except,
                                          Claim& claim) {
  const auto began = store::QueueCursor::Steady::now();
  const base::TimePoint start = queue.start(began);
  const base::TimePoint now = clock_.now();
  const int spare = spare_rows();
  const int limit = wanted + static_cast<int>(except.size()) + spare;
  const std::vector<mysql::Parameter> parameters = {queue.shard, base::epoch_milliseconds(start),
                                                    base::epoch_milliseconds(now), limit};
  int malformed = 0;
  TRY(std::vector<EmailRow> rows, read_rows(select_due(queue.state), parameters, nullptr, &malformed));
  const bool full = static_cast<int>(rows.size()) + malformed == limit;
  // Malformed rows that are new have taken the places of others.
  if (full && spare_rows() > spare) return take_seen(queue, wanted, except, claim);
  std::vector<EmailRow> to_adopt;
  base::TimePoint last_due = start;
  int taken = 0;
  for (EmailRow& row : rows) {
    if (taken == wanted) break;
    last_due = *row.email.due_at;
    if (except.contains(row.email.id)) continue;
    if (needs_adoption(row)) {
      to_adopt.push_back(std::move(row));
      continue;
    }
    claim.emails.push_back(std::move(row.email));
    ++taken;
  }
  if (!to_adopt.empty()) {
    TRY(const bool some, adopt(to_adopt));
    // They are still there; those that were taken just now would be, too.
    if (some && taken == 0) return take_seen(queue, wanted, except, claim);
  }
  queue.found(start, full || taken == wanted ? last_due : now, began);
  return taken == wanted;
}

MysqlLedger::Queues MysqlLedger::queues_of(Pipeline pipeline) const {
  Queues queues;
  for (int shard = 0; shard < mysql_shards; ++shard)
    for (const State state : states_claimed_by(pipeline)) queues.push_back(queues_.at({state, shard}).get());
  return queues;
}

base::Result<MysqlLedger::DueTimes> MysqlLedger::first_due(Pipeline pipeline, std::optional<base::TimePoint> from) {
  const Queues queues = queues_of(pipeline);
  std::string sql;
  std::vector<mysql::Parameter> parameters;
  for (WorkQueue* queue : queues) {
    sql += (sql.empty() ? "SELECT (SELECT MIN(due_ms)" : ", (SELECT MIN(due_ms)") + queue_condition(queue->state) + ")";
    parameters.emplace_back(queue->shard);
    parameters.emplace_back(base::epoch_milliseconds(from ? *from : queue->start(store::QueueCursor::Steady::now())));
  }
  const auto rows =
      database_.read([&](Connection& connection, const Attempt&) { return connection.query(sql, parameters); });
  if (!rows) return base::propagate(mysql::as_error(rows.error()));
  DueTimes times;
  for (std::size_t column = 0; column < queues.size(); ++column)
    if (const auto first = (*rows)[0].optional_number(column))
      times.emplace_back(base::from_epoch_milliseconds(*first), queues[column]);
  std::ranges::stable_sort(times, {}, &DueTimes::value_type::first);
  return times;
}

base::Result<void> MysqlLedger::drain(WorkQueue& queue, int limit, const Take& take, Claim& claim) {
  while (true) {
    const int wanted = limit - static_cast<int>(claim.emails.size());
    if (wanted <= 0) return {};
    TRY(const bool more, take(queue, wanted, claim));
    queue.more = more;
    if (!more) return {};
  }
}

base::Result<void> MysqlLedger::gather_due(Pipeline pipeline, int limit, const Take& take, Claim& claim) {
  const auto is_full = [&] { return static_cast<int>(claim.emails.size()) >= limit; };
  // A queue that had more the last time needs no look. Each claim begins with another one, so that no state and no
  // shard waits behind one that is never empty.
  const Queues queues = queues_of(pipeline);
  WorkQueue& first = *queues[next_queue_++ % queues.size()];
  if (first.more) TRY_VOID(drain(first, limit, take, claim));
  if (is_full()) return {};
  const base::TimePoint now = clock_.now();
  TRY(DueTimes due, first_due(pipeline, std::nullopt));
  bool any = false;
  for (const auto& [time, queue] : due) {
    if (time > now) break;
    any = true;
    queue->more = true;
    TRY_VOID(drain(*queue, limit, take, claim));
  }
  if (is_full()) return {};
  if (any) {
    TRY(due, first_due(pipeline, now + base::Milliseconds(1)));
  }
  if (!due.empty()) claim.next_due = due.front().first;
  return {};
}

base::Result<Claim> MysqlLedger::gather(Pipeline pipeline, int limit, const Take& take) {
  Claim claim;
  const auto done = gather_due(pipeline, limit, take, claim);
  // What was claimed before a queue could not be read is claimed: it must be worked on.
  if (!done && claim.emails.empty()) return base::propagate(done.error());
  claim.more = static_cast<int>(claim.emails.size()) >= limit;  // perhaps: the queues that were not read may be empty
  return claim;
}

base::Result<Claim> MysqlLedger::claim(Pipeline pipeline, int limit, const std::string& owner) {
  return gather(pipeline, limit,
                [&](WorkQueue& queue, int wanted, Claim& claim) { return take_claimed(queue, wanted, owner, claim); });
}

base::Result<Claim> MysqlLedger::due(Pipeline pipeline, int limit, const std::set<std::string>& except) {
  std::set<const WorkQueue*> seen;  // nothing is taken, so a queue would say the same again
  return gather(pipeline, limit, [&](WorkQueue& queue, int wanted, Claim& claim) -> base::Result<bool> {
    if (!seen.insert(&queue).second) return false;
    TRY_VOID(take_seen(queue, wanted, except, claim));
    return false;
  });
}

base::Result<std::vector<Email>> MysqlLedger::read_ended_leases(base::TimePoint before, int limit, Locked locked) {
  static const std::string sql = [] {
    std::string shards = "0";
    for (int shard = 1; shard < mysql_shards; ++shard) shards += ", " + std::to_string(shard);
    return "SELECT " + email_columns + " FROM emails FORCE INDEX (idx_work) WHERE " + is_lease_over_condition() +
           " AND shard IN (" + shards +
           ") AND (ledger_version = version OR updated_at < FROM_UNIXTIME(?)) ORDER BY due_ms, id LIMIT ?";
  }();
  const std::vector<mysql::Parameter> parameters = {base::epoch_milliseconds(before),
                                                    timestamp(before - options_.foreign_lease), limit};
  // Without a transaction the locks end with the statement.
  static const std::string locking = sql + " FOR UPDATE SKIP LOCKED";
  const auto rows = database_.read([&](Connection& connection, const Attempt&) {
    return connection.query(locked == Locked::shown ? sql : locking, parameters);
  });
  if (!rows) return base::propagate(mysql::as_error(rows.error()));
  std::vector<Email> emails;
  for (const mysql::Row row : *rows) {
    auto expired = readable(row);
    if (!expired) continue;
    if (!expired->foreign) {
      emails.push_back(std::move(expired->email));
      continue;
    }
    TRY(Change adopted, decide(std::move(expired->email), event::Adopted{}, policy_, before));
    emails.push_back(std::move(adopted.after));
  }
  return emails;
}

base::Result<std::vector<Email>> MysqlLedger::find_ended_leases(base::TimePoint before, int limit) {
  return read_ended_leases(before, limit, Locked::left_out);
}

base::Result<std::vector<Email>> MysqlLedger::stale(base::TimePoint before, int limit) {
  return read_ended_leases(before, limit, Locked::shown);
}

base::Result<std::optional<base::TimePoint>> MysqlLedger::oldest_due(Pipeline pipeline) {
  TRY(const DueTimes due, first_due(pipeline, std::nullopt));
  if (due.empty()) return std::nullopt;
  return std::optional(due.front().first);
}

}  // namespace postino::outbox
