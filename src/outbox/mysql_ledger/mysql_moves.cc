// Moves: many in one transaction. It locks the e-mails and compares state and version with those of each change.
#include <algorithm>
#include <map>
#include <set>

#include "outbox/ledger/move_batch.h"
#include "outbox/mysql_ledger/mysql_work_queue.h"

namespace postino::outbox {

using mysql::Attempt;
using mysql::Connection;

mysql::Result<void> MysqlLedger::write_moves(Connection& connection, const std::vector<const Change*>& changes,
                                             const std::vector<std::optional<State>>& counted_as,
                                             std::int64_t transition, std::size_t slice) const {
  Parameters parameters;
  std::vector<Line> lines;
  CountDifferences counts;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Email& after = changes[i]->after;
    add_changed_row(parameters, after, expires(after));
    add_lines(*changes[i], lines);
    if (counted_as[i]) counts.left(after.tenant, *counted_as[i]);
    counts.entered(after.tenant, after.state);
  }
  const std::size_t rows = rounded_up(changes.size());
  parameters.repeat_last(parameters.list().size() / changes.size(), parameters.list().size() / changes.size() * rows);
  TRY_VOID(connection.execute(rewrite_emails(rows), parameters.list()));
  TRY_VOID(write_lines(connection, lines, transition));
  return counts.write(connection, slice);
}

// Changes that go together. Those that turn out to be late stay behind.
class MysqlLedger::MoveWriter : private MoveBatch<MysqlSpool::Placed> {
 public:
  MoveWriter(MysqlLedger& ledger, std::vector<Change>& changes, std::vector<MoveOutcome>& outcomes)
      : MoveBatch(changes, outcomes), ledger_(ledger), transition_(ledger.new_transition()) {}

  bool has_room_for(const Change& change) const {
    return is_empty() || (MoveBatch::has_room_for(change) && !ids_.contains(change.before.id));
  }

  void add(std::size_t index) {
    MoveBatch::add(index);
    ids_.insert(changes_[index].before.id);
  }

  void commit() {
    spool_messages(ledger_.policy_, [&](SpoolObject object) { return ledger_.put_away(std::move(object)); });
    if (is_empty()) return;
    const CountLanes::Lane lane(ledger_.lanes_);
    const auto done = ledger_.database_.transact(
        [&](Connection& connection, const Attempt& attempt) { return write(connection, attempt, lane.slice()); });
    for (const std::size_t index : members_) {
      if (done && current_.contains(index)) {
        finish(index);
        continue;
      }
      // With a database that is away for an hour there would be many messages that no e-mail names.
      if (done || !done.error().at_commit) contents_[index].remove_written(ledger_.spool());
      if (done)
        be_late(index);
      else
        fail(index, mysql::as_error(done.error()).message, done.error().at_commit);
    }
  }

 private:
  mysql::Result<void> write(Connection& connection, const Attempt& attempt, std::size_t slice) {
    TRY_VOID(lock(connection, attempt));
    if (attempt.connection_lost) {
      TRY(const bool committed, earlier_attempt_committed(connection, attempt));
      if (committed) {
        current_ = written_;
        return {};
      }
    }
    written_ = current_;
    if (current_.empty()) return {};
    std::vector<const Change*> changes;
    std::vector<const MysqlSpool::Placed*> messages;
    std::vector<std::optional<State>> counted_as;
    for (const std::size_t index : current_) {
      changes.push_back(&changes_[index]);
      for (const MysqlSpool::Placed& message : contents_[index].writes) messages.push_back(&message);
      counted_as.push_back(counted_as_[changes_[index].before.id]);
    }
    TRY_VOID(MysqlSpool::insert(connection, messages));
    return ledger_.write_moves(connection, changes, counted_as, transition_, slice);
  }

  // The lines alone do not prove it: the rows must have moved on, too.
  mysql::Result<bool> earlier_attempt_committed(Connection& connection, const Attempt& attempt) {
    const std::vector<std::string> ids(ids_.begin(), ids_.end());
    const bool none_moved = std::ranges::any_of(written_, [&](std::size_t each) { return current_.contains(each); });
    if (attempt.commit_unknown && !none_moved) {
      TRY(const bool committed, was_committed(connection, ids, transition_));
      if (committed) return true;
    }
    TRY_VOID(remove_lines_of_lost(connection, ids, transition_));
    return false;
  }

  // A worker that holds a row, or waits for it, is about to say what became of the e-mail: no rescuer comes before it.
  bool is_rescue() const {
    return std::ranges::all_of(members_, [&](std::size_t index) { return changes_[index].only_unrenewed; });
  }

  // Locks the e-mails, in the order of their ids so that two transactions that want the same ones wait and do not block
  // each other for good, and finds out which are as their changes have them before. A commit that may be under way is
  // waited for, also by a rescuer.
  mysql::Result<void> lock(Connection& connection, const Attempt& attempt) {
    const bool skips_locked = is_rescue() && !attempt.commit_unknown;
    Parameters parameters;
    for (const std::string& id : ids_) parameters.add(id);
    parameters.repeat_last(1, rounded_up(ids_.size()));
    TRY(const mysql::Rows rows,
        connection.query("SELECT id, status, version, ledger_status, due_ms, outcome_unknown, ledger_version FROM"
                         " emails FORCE INDEX (PRIMARY) WHERE id IN " +
                             placeholders(rounded_up(ids_.size())) + " ORDER BY id FOR UPDATE" +
                             (skips_locked ? " SKIP LOCKED" : ""),
                         parameters.list()));
    std::map<std::string_view, mysql::Row> found;
    for (const mysql::Row row : rows) found.emplace(row.text(0), row);
    current_.clear();
    counted_as_.clear();
    for (const std::size_t index : members_) {
      const Email& before = changes_[index].before;
      const auto row = found.find(before.id);
      if (row == found.end() || row->second.text(1) != name_of(before.state) || row->second.number(2) != before.version)
        continue;
      if (changes_[index].only_unrenewed && was_renewed(before, row->second)) continue;
      current_.insert(index);
      counted_as_[before.id] = parse_state(row->second.text(3));
    }
    return {};
  }

  static bool was_renewed(const Email& before, const mysql::Row& row) {
    // Other programs renew nothing: they write another version.
    if (row.number(6) != row.number(2)) return false;
    const bool unknown = row.number(5) != 0;
    return (before.due_at && row.number(4) != base::epoch_milliseconds(*before.due_at)) ||
           (unknown && !before.outcome_unknown);
  }

  MysqlLedger& ledger_;
  const std::int64_t transition_;
  std::set<std::string> ids_;      // of the members
  std::set<std::size_t> current_;  // members whose e-mails are as their changes have them before
  std::set<std::size_t> written_;  // those of the last attempt that came as far as writing
  std::map<std::string_view, std::optional<State>> counted_as_;
};

std::vector<MoveOutcome> MysqlLedger::move(std::vector<Change> changes) {
  std::vector<MoveOutcome> outcomes(changes.size());
  commit_in_batches(changes, [&] { return MoveWriter(*this, changes, outcomes); });
  return outcomes;
}

}  // namespace postino::outbox
