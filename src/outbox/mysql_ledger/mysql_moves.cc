// Moves: many in one transaction, each on condition that its e-mail is as its caller saw it.
#include <algorithm>
#include <map>
#include <set>

#include "outbox/ledger/transitions.h"
#include "outbox/mysql_ledger/mysql_work_queue.h"

namespace postino::outbox {

using mysql::Answer;
using mysql::Attempt;
using mysql::Connection;

namespace {

// What the messages of a transaction may have: others wait for its commit.
constexpr std::size_t max_updated_message_bytes = 3 << 20;

}  // namespace

Answer<void> MysqlLedger::write_moves(Connection& connection, const std::vector<const Move*>& moves,
                                      const std::vector<std::optional<State>>& counted_as, std::int64_t transition,
                                      std::size_t slice) const {
  Parameters parameters;
  std::vector<Line> lines;
  CountDifferences counts;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const Email& after = moves[i]->after;
    add_changed_row(parameters, after, expiry_of(after));
    for (HistoryEntry& entry : lines_of(*moves[i])) lines.push_back({&after.id, std::move(entry)});
    if (counted_as[i]) counts.left(after.tenant, *counted_as[i]);
    counts.entered(after.tenant, after.state);
  }
  const std::size_t rows = rounded_up(moves.size());
  parameters.repeat_last(parameters.list().size() / moves.size(), parameters.list().size() / moves.size() * rows);
  TRY_VOID(connection.execute(rewrite_emails(rows), parameters.list()));
  TRY_VOID(write_lines(connection, lines, transition));
  return counts.write(connection, slice);
}

// Moves that go together. Those that turn out to be late stay behind.
class MysqlLedger::MoveBatch {
 public:
  MoveBatch(MysqlLedger& ledger, std::vector<Move>& moves, std::vector<MoveOutcome>& outcomes)
      : ledger_(ledger), moves_(moves), outcomes_(outcomes), transition_(ledger.new_transition()) {}

  bool has_room_for(const Move& move) const {
    const std::size_t bytes = move.message ? move.message->size() : 0;
    return members_.empty() || (members_.size() < max_ledger_batch && message_bytes_ + bytes <= max_updated_message_bytes &&
                                !ids_.contains(move.before.id));
  }

  void add(std::size_t index) {
    message_bytes_ += moves_[index].message ? moves_[index].message->size() : 0;
    ids_.insert(moves_[index].before.id);
    members_.push_back(index);
  }

  void commit() {
    spool_messages();
    if (members_.empty()) return;
    const CountLanes::Lane lane(ledger_.lanes_);
    const auto done = ledger_.database_.transact(
        [&](Connection& connection, const Attempt& attempt) { return write(connection, attempt, lane.slice()); });
    for (const std::size_t index : members_) {
      if (done && current_.contains(index)) {
        outcomes_[index] = {MoveStatus::done, std::move(moves_[index].after), ""};
        continue;
      }
      if (done || !done.error().at_commit) remove_message(moves_[index]);
      if (done)
        outcomes_[index] = {MoveStatus::lock_not_acquired, moves_[index].before, ""};
      else
        outcomes_[index] = {MoveStatus::failed, moves_[index].before, mysql::as_error(done.error()).message};
    }
  }

 private:
  // Puts messages among what the transaction writes, or into the spool before it.
  void spool_messages() {
    std::erase_if(members_, [&](std::size_t index) {
      Move& move = moves_[index];
      if (!move.message) return false;
      const std::size_t before = placed_.size();
      auto path = ledger_.spool({SpoolKind::message, move.before.id, move.before.created_at, std::move(*move.message),
                                 ledger_.expiry_of(move.before)},
                                placed_);
      if (!path) {
        outcomes_[index] = {MoveStatus::failed, move.before, path.error().message};
        return true;
      }
      if (placed_.size() > before) placed_by_.push_back(index);
      move.after.message_path = std::move(*path);
      return false;
    });
  }

  // That is in a spool of its own and that nobody will name. It expires anyway; but with a database that is away for
  // an hour there would be many.
  void remove_message(const Move& move) {
    if (ledger_.own_spool_ == nullptr && move.message) (void)ledger_.spool_.remove(move.after.message_path);
  }

  Answer<void> write(Connection& connection, const Attempt& attempt, std::size_t slice) {
    TRY_VOID(lock(connection));
    if (attempt.commit_unknown) {
      TRY(const bool committed, was_committed(connection, {ids_.begin(), ids_.end()}, transition_));
      if (committed) {
        current_ = written_;
        return {};
      }
    }
    written_ = current_;
    if (current_.empty()) return {};
    TRY_VOID(MysqlSpool::insert(connection, placed_of_current()));
    std::vector<const Move*> moves;
    std::vector<std::optional<State>> counted_as;
    const base::TimePoint now = ledger_.clock_.now();
    for (const std::size_t index : current_) {
      complete(moves_[index], now);
      moves.push_back(&moves_[index]);
      counted_as.push_back(counted_as_[moves_[index].before.id]);
    }
    return ledger_.write_moves(connection, moves, counted_as, transition_, slice);
  }

  // Locks the e-mails, in the order of their ids so that two who want the same ones wait and do not block each other
  // for good, and finds out which are as their movers saw them.
  Answer<void> lock(Connection& connection) {
    Parameters parameters;
    for (const std::string& id : ids_) parameters.add(id);
    parameters.repeat_last(1, rounded_up(ids_.size()));
    TRY(const mysql::Rows rows,
        connection.query("SELECT id, status, version, ledger_status, due_ms, outcome_unknown FROM emails"
                         " FORCE INDEX (PRIMARY) WHERE id IN " +
                             placeholders(rounded_up(ids_.size())) + " ORDER BY id FOR UPDATE",
                         parameters.list()));
    std::map<std::string_view, mysql::Row> found;
    for (const mysql::Row row : rows) found.emplace(row.text(0), row);
    current_.clear();
    counted_as_.clear();
    for (const std::size_t index : members_) {
      const Email& before = moves_[index].before;
      const auto row = found.find(before.id);
      if (row == found.end() || row->second.text(1) != name_of(before.state) || row->second.number(2) != before.version)
        continue;
      if (moves_[index].only_unrenewed && was_renewed(before, row->second)) continue;
      current_.insert(index);
      counted_as_[before.id] = parse_state(row->second.text(3));
    }
    return {};
  }

  static bool was_renewed(const Email& before, const mysql::Row& row) {
    const bool unknown = row.number(5) != 0;
    return (before.due_at && row.number(4) != base::epoch_milliseconds(*before.due_at)) ||
           (unknown && !before.outcome_unknown);
  }

  // Late ones leave no message behind.
  std::vector<const MysqlSpool::Placed*> placed_of_current() const {
    std::vector<const MysqlSpool::Placed*> placed;
    for (std::size_t i = 0; i < placed_.size(); ++i)
      if (current_.contains(placed_by_[i])) placed.push_back(&placed_[i]);
    return placed;
  }

  MysqlLedger& ledger_;
  std::vector<Move>& moves_;
  std::vector<MoveOutcome>& outcomes_;
  const std::int64_t transition_;
  std::vector<std::size_t> members_;  // indexes into moves
  std::set<std::string> ids_;         // of the members
  std::size_t message_bytes_ = 0;
  std::vector<MysqlSpool::Placed> placed_;  // for the transaction to insert
  std::vector<std::size_t> placed_by_;      // whose they are
  std::set<std::size_t> current_;           // members whose e-mails are as they saw them
  std::set<std::size_t> written_;           // those of the last attempt that came as far as writing
  std::map<std::string_view, std::optional<State>> counted_as_;
};

std::vector<MoveOutcome> MysqlLedger::move(std::vector<Move> moves) {
  std::vector<MoveOutcome> outcomes(moves.size());
  for (std::size_t next = 0; next < moves.size();) {
    MoveBatch batch(*this, moves, outcomes);
    while (next < moves.size() && batch.has_room_for(moves[next])) batch.add(next++);
    batch.commit();
  }
  return outcomes;
}

}  // namespace postino::outbox
