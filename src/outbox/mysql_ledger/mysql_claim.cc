// Claims: what is due is found through an index by shard and due time, and taken in the transaction that found it.
#include <algorithm>
#include <map>
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

namespace {

std::string select_after(State state) {
  return "SELECT " + email_columns + queue_condition(state) + " AND (due_ms > ? OR id > ?) AND " + is_due_condition +
         " ORDER BY due_ms, id LIMIT ?";
}

std::string select_chosen(State state, std::size_t count) {
  return "SELECT " + email_columns + " FROM emails FORCE INDEX (PRIMARY) WHERE id IN " + placeholders(count) + " AND " +
         waits_in(state) + " AND " + is_due_condition + " ORDER BY due_ms, id";
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
  // For these e-mails alone.
  ClaimWriter(MysqlLedger& ledger, const WorkQueue& queue, std::vector<std::string> ids, const std::string& owner)
      : ClaimWriter(ledger, queue, {}, static_cast<int>(ids.size()), owner) {
    ids_ = std::move(ids);
  }

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
    if (attempt.connection_lost) {
      TRY(const bool committed, earlier_attempt_committed(connection, attempt));
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
    std::string sql = select_due(queue_.state);
    std::vector<mysql::Parameter> parameters = {queue_.shard, base::epoch_milliseconds(start_),
                                                base::epoch_milliseconds(now_), limit};
    if (!ids_.empty()) {
      sql = select_chosen(queue_.state, ids_.size());
      parameters.assign(ids_.begin(), ids_.end());
      parameters.emplace_back(base::epoch_milliseconds(now_));
    }
    TRY(const mysql::Rows rows, connection.query(sql + " FOR UPDATE SKIP LOCKED", parameters));
    full_ = static_cast<int>(rows.size()) == limit;
    for (const mysql::Row row : rows) {
      if (static_cast<int>(changes_.size() + to_adopt_.size()) == wanted_) {
        full_ = true;
        break;
      }
      last_due_ = due_of(row);
      auto email = ledger_.readable(row);
      if (!email) continue;  // it must not keep back those behind it
      if (ledger_.needs_adoption(*email)) {
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

  // The changes are still those of the attempt whose end is not known. The lines alone do not prove that it took
  // effect: the rows must have moved on, too.
  mysql::Result<bool> earlier_attempt_committed(Connection& connection, const Attempt& attempt) {
    std::map<std::string_view, std::int64_t> before;
    std::vector<std::string> ids;
    for (const Change& change : changes_) {
      ids.push_back(change.after.id);
      before.emplace(change.before.id, change.before.version);
    }
    if (ids.empty()) return false;
    if (attempt.commit_unknown) {
      // It may be about to: then this waits for it.
      TRY(const mysql::Rows rows, connection.query("SELECT id, version FROM emails FORCE INDEX (PRIMARY) WHERE id IN " +
                                                       placeholders(ids.size()) + " ORDER BY id FOR UPDATE",
                                                   std::vector<mysql::Parameter>(ids.begin(), ids.end())));
      bool none_moved = false;
      for (const mysql::Row row : rows) none_moved = none_moved || before[row.text(0)] == row.number(1);
      TRY(const bool committed, none_moved ? mysql::Result<bool>(false) : was_committed(connection, ids, transition_));
      if (committed) return true;
    }
    TRY_VOID(remove_lines_of_lost(connection, ids, transition_));
    return false;
  }

  MysqlLedger& ledger_;
  const WorkQueue& queue_;
  const base::TimePoint start_;
  const int wanted_;
  const std::string& owner_;
  const std::int64_t transition_;
  std::vector<std::string> ids_;
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

base::Result<QueuePage> MysqlLedger::read_page(const WorkQueue& queue, const QueuePosition& after, int limit,
                                               Adoption adoption) {
  const std::int64_t due = base::epoch_milliseconds(after.due);
  const std::vector<mysql::Parameter> parameters = {
      queue.shard, due, due, after.id, base::epoch_milliseconds(clock_.now()), limit};
  const std::string sql = select_after(queue.state);
  const auto rows =
      database_.read([&](Connection& connection, const Attempt&) { return connection.query(sql, parameters); });
  if (!rows) return base::propagate(mysql::as_error(rows.error()));
  QueuePage page;
  page.is_last = static_cast<int>(rows->size()) < limit;
  std::vector<EmailRow> to_adopt;
  for (const mysql::Row row : *rows) {
    QueueEntry& entry = page.entries.emplace_back(QueueEntry{{due_of(row), std::string(row.text(0))}, std::nullopt});
    auto email = readable(row);
    if (!email) continue;
    if (needs_adoption(*email))
      to_adopt.push_back(std::move(*email));
    else
      entry.email = std::move(email->email);
  }
  if (to_adopt.empty() || adoption == Adoption::left_out) return page;
  TRY(const bool some, adopt(to_adopt));
  if (!some) return page;
  return read_page(queue, after, limit, Adoption::left_out);  // where they are going is known now
}

base::Result<bool> MysqlLedger::take_wanted(WorkQueue& queue, int wanted, const std::string& owner,
                                            const Choice& choice, Claim& claim) {
  const std::lock_guard turn(queue.turn);
  const auto began = store::QueueCursor::Steady::now();
  const base::TimePoint start = queue.start(began);
  TRY(const QueueReader::Chosen chosen,
      queue.reader.choose(
          std::min(wanted, static_cast<int>(max_ledger_batch)), choice,
          [&](const QueuePosition& after, int limit) { return read_page(queue, after, limit, Adoption::tried); },
          clock_.now()));
  queue.found(start, queue.reader.first_left(), began);
  claim.more |= chosen.more;
  if (chosen.emails.empty()) return false;
  std::vector<std::string> ids;
  for (const Email& email : chosen.emails) ids.push_back(email.id);
  ClaimWriter batch(*this, queue, std::move(ids), owner);
  const auto done = batch.commit();
  std::vector<Email> claimed = done ? batch.claimed() : std::vector<Email>();
  // Others may have locked them for something else.
  if (claimed.size() < chosen.emails.size()) queue.reader.sweep_next();
  if (!done) return base::propagate(done.error());
  std::ranges::move(claimed, std::back_inserter(claim.emails));
  return chosen.more;
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

std::string all_shards() {
  std::string shards = "0";
  for (int shard = 1; shard < mysql_shards; ++shard) shards += ", " + std::to_string(shard);
  return shards;
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
  // Perhaps: the queues that were not read may be empty.
  if (static_cast<int>(claim.emails.size()) >= limit) claim.more = true;
  return claim;
}

base::Result<Claim> MysqlLedger::claim(Pipeline pipeline, int limit, const std::string& owner) {
  return gather(pipeline, limit,
                [&](WorkQueue& queue, int wanted, Claim& claim) { return take_claimed(queue, wanted, owner, claim); });
}

base::Result<Claim> MysqlLedger::claim(Pipeline pipeline, int limit, const std::string& owner, const Choice& choice) {
  std::set<const WorkQueue*> in_vain;  // what was passed over stays there
  return gather(pipeline, limit, [&](WorkQueue& queue, int wanted, Claim& claim) -> base::Result<bool> {
    if (in_vain.contains(&queue)) return false;
    TRY(const bool more, take_wanted(queue, wanted, owner, choice, claim));
    if (!more) in_vain.insert(&queue);
    return more;
  });
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
  static const std::string sql =
      "SELECT " + email_columns + " FROM emails FORCE INDEX (idx_work) WHERE " + is_lease_over_condition() +
      " AND shard IN (" + all_shards() +
      ") AND (ledger_version = version OR updated_at < FROM_UNIXTIME(?)) ORDER BY due_ms, id LIMIT ?";
  const std::vector<mysql::Parameter> parameters = {base::epoch_milliseconds(before),
                                                    timestamp(before - policy_.foreign_lease), limit};
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
    TRY(Change adopted, decide(std::move(expired->email), event::Adopted{.is_moved = true}, policy_, before));
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
