#include "outbox/mysql_ledger/mysql_ledger.h"

#include <algorithm>
#include <limits>

#include "base/hash.h"
#include "base/log.h"
#include "outbox/mysql_ledger/mysql_work_queue.h"

namespace postino::outbox {

using mysql::Attempt;
using mysql::Connection;

namespace {

// What a change within a state writes.
struct Amendment {
  std::string assignments;  // "due_ms = ?, callback_dead = ?, "
  std::vector<std::optional<std::int64_t>> values;

  friend bool operator==(const Amendment&, const Amendment&) = default;

  void set(const std::string& column, std::optional<std::int64_t> value) {
    assignments += column + " = ?, ";
    values.push_back(value);
  }
};

Amendment amendment_of(const Change& change) {
  const Email& before = change.before;
  const Email& after = change.after;
  Amendment amendment;
  if (after.due_at != before.due_at)
    amendment.set("due_ms", after.due_at ? std::optional(base::epoch_milliseconds(*after.due_at)) : std::nullopt);
  if (after.outcome_unknown != before.outcome_unknown) amendment.set("outcome_unknown", after.outcome_unknown ? 1 : 0);
  if (after.callback_dead != before.callback_dead) amendment.set("callback_dead", after.callback_dead ? 1 : 0);
  if (after.callback_attempts != before.callback_attempts) amendment.set("callback_attempts", after.callback_attempts);
  return amendment;
}

}  // namespace

MysqlLedger::MysqlLedger(mysql::Database& database, const Policy& policy, const base::Clock& clock,
                         base::Random& random, MysqlLedgerOptions options, std::unique_ptr<Spool> elsewhere)
    : database_(database),
      policy_(policy),
      clock_(clock),
      random_(random),
      options_(options),
      own_spool_(database, random),
      elsewhere_(std::move(elsewhere)),
      lanes_(random),
      test_key_(base::to_hex(base::sha256(base::make_uuid(random)))) {
  if (elsewhere_) both_spools_.emplace(*elsewhere_, own_spool_);
  for (const State state : all_states())
    if (kind_of(state) == StateKind::waiting)
      for (int shard = 0; shard < mysql_shards; ++shard)
        queues_.emplace(std::pair(state, shard), std::make_unique<WorkQueue>(state, shard));
}

MysqlLedger::~MysqlLedger() = default;

// What another program has brought to an end is shown as it will be adopted, if it ever is. It stays in its queue.
void MysqlLedger::show_as_adopted(EmailRow& row) const {
  const State state = row.email.state;
  if (!row.foreign || !(may_be_finished(state) || acknowledged_form(state))) return;
  const std::optional<base::TimePoint> due = row.email.due_at;
  if (auto change = decide(row.email, event::Adopted{.is_moved = true}, policy_, clock_.now()))
    row.email = std::move(change->after);
  row.email.due_at = due;
}

std::optional<EmailRow> MysqlLedger::readable(const mysql::Row& row, std::optional<base::Error>* fault) {
  auto email = email_row_of(row);
  if (email) {
    malformed_.forget(email->email.id);
    // Other programs have no leases: they count as gone some time after they have moved it.
    if (email->foreign && email->email.due_at && kind_of(email->email.state) == StateKind::working)
      email->email.due_at = email->email.updated_at + policy_.foreign_lease;
    show_as_adopted(*email);
    return *std::move(email);
  }
  malformed_.note(std::string(row.text(0)), email.error());
  if (fault != nullptr) *fault = email.error();
  return std::nullopt;
}

base::Result<std::vector<EmailRow>> MysqlLedger::read_rows(const std::string& sql,
                                                           std::span<const mysql::Parameter> parameters,
                                                           std::optional<base::Error>* fault, int* malformed) {
  const auto rows =
      database_.read([&](Connection& connection, const Attempt&) { return connection.query(sql, parameters); });
  if (!rows) return base::propagate(mysql::as_error(rows.error()));
  std::vector<EmailRow> emails;
  emails.reserve(rows->size());
  for (const mysql::Row row : *rows)
    if (auto email = readable(row, fault)) emails.push_back(*std::move(email));
  if (malformed != nullptr) *malformed = static_cast<int>(rows->size() - emails.size());
  return emails;
}

base::Result<std::vector<Email>> MysqlLedger::read_emails(const std::string& sql,
                                                          std::span<const mysql::Parameter> parameters,
                                                          int* malformed) {
  TRY(std::vector<EmailRow> rows, read_rows(sql, parameters, nullptr, malformed));
  std::vector<Email> emails;
  emails.reserve(rows.size());
  for (EmailRow& row : rows) emails.push_back(std::move(row.email));
  return emails;
}

base::Result<std::optional<Email>> MysqlLedger::find(const std::string& id) {
  static const std::string sql = "SELECT " + email_columns + " FROM emails WHERE id = ?";
  const mysql::Parameter parameter(id);
  std::optional<base::Error> fault;
  TRY(std::vector<EmailRow> rows, read_rows(sql, std::span(&parameter, 1), &fault));
  if (fault) return base::propagate(*fault);
  // The column's rules for what is equal are laxer than ours.
  if (rows.empty() || rows.front().email.id != id) {
    malformed_.forget(id);
    return std::nullopt;
  }
  return std::optional<Email>(std::move(rows.front().email));
}

base::Result<std::map<std::string, Acceptance>> MysqlLedger::acceptances(const std::vector<std::string>& ids) {
  std::map<std::string, Acceptance> found;
  for (std::size_t begin = 0, count = 0; begin < ids.size(); begin += count) {
    count = rounded_down(ids.size() - begin);
    const auto first = ids.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::vector<mysql::Parameter> parameters(first, first + static_cast<std::ptrdiff_t>(count));
    const auto rows = database_.read([&](Connection& connection, const Attempt&) {
      return connection.query("SELECT id, acceptance, created_ms FROM emails WHERE id IN " + placeholders(count),
                              parameters);
    });
    if (!rows) return base::propagate(mysql::as_error(rows.error()));
    for (const mysql::Row row : *rows)
      found.emplace(row.text(0), Acceptance{std::string(row.text(1)), base::from_epoch_milliseconds(row.number(2))});
  }
  return found;
}

// The newest first, a few at a time: another program may have written any number of long ones.
base::Result<std::vector<HistoryEntry>> MysqlLedger::history(const std::string& id) {
  constexpr std::int64_t lines_at_once = 50;
  std::vector<HistoryEntry> entries;
  std::size_t bytes = 0;
  std::int64_t older_than = std::numeric_limits<std::int64_t>::max();
  for (bool more = true; more;) {
    const auto rows = database_.read([&](Connection& connection, const Attempt&) {
      return connection.query(
          "SELECT status, reason, COALESCE(at_ms, UNIX_TIMESTAMP(created_at) * 1000), version, email_id, id"
          " FROM email_statuses WHERE email_id = ? AND id < ? ORDER BY id DESC LIMIT ?",
          {id, older_than, lines_at_once});
    });
    if (!rows) return base::propagate(mysql::as_error(rows.error()));
    for (const mysql::Row row : *rows) {
      older_than = row.number(5);
      if (row.text(4) != id) continue;
      entries.push_back({std::string(row.text(0)), base::from_epoch_milliseconds(row.number(2)),
                         std::string(row.text(1)), row.optional_number(3).value_or(0)});
      bytes += entries.back().reason.size();
    }
    more = static_cast<std::int64_t>(rows->size()) == lines_at_once && entries.size() < most_history_lines &&
           bytes < most_history_bytes;
  }
  std::ranges::reverse(entries);
  // Other programs do not write the version; each of their lines is one.
  for (std::int64_t next = 1; HistoryEntry & entry : entries) {
    if (entry.version == 0) entry.version = next;
    next = entry.version + 1;
  }
  return entries;
}

base::Result<Counts> MysqlLedger::counts(const std::optional<std::string>& tenant) {
  const auto counts =
      database_.read([&](Connection& connection, const Attempt&) { return read_counts(connection, tenant); });
  if (!counts) return base::propagate(mysql::as_error(counts.error()));
  return *counts;
}

base::Result<MysqlLedger::Spooled> MysqlLedger::put_away(SpoolObject object) {
  if (elsewhere_) {
    TRY(std::string path, elsewhere_->write(object));
    return Spooled{std::move(path), std::nullopt};
  }
  std::string path = own_spool_.new_path(object);
  return Spooled{path, MysqlSpool::Placed{path, std::move(object)}};
}

void MysqlLedger::add_lines(const Change& change, std::vector<Line>& lines) {
  for (const NewLine& line : change.lines) lines.push_back({&change.after.id, &line.entry});
}

mysql::Result<void> MysqlLedger::write_lines(Connection& connection, const std::vector<Line>& lines,
                                             std::int64_t transition) {
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < lines.size(); begin += count) {
    count = rounded_down(lines.size() - begin);
    Parameters parameters;
    for (std::size_t i = begin; i < begin + count; ++i) {
      const HistoryEntry& entry = *lines[i].entry;
      parameters.add(*lines[i].email_id);
      parameters.add(entry.status);
      parameters.add_text(entry.reason);
      parameters.add(timestamp(entry.at));
      parameters.add(base::epoch_milliseconds(entry.at));
      parameters.add(entry.version);
      parameters.add(transition);
    }
    TRY_VOID(connection.execute(
        "INSERT INTO email_statuses (email_id, status, reason, created_at, at_ms, version, transition) VALUES " +
            repeated("(?, ?, ?, FROM_UNIXTIME(?), ?, ?, ?)", count),
        parameters.list()));
  }
  return {};
}

mysql::Result<bool> MysqlLedger::was_committed(Connection& connection, const std::vector<std::string>& ids,
                                               std::int64_t transition) {
  if (ids.empty()) return false;
  std::vector<mysql::Parameter> parameters(ids.begin(), ids.end());
  parameters.emplace_back(transition);
  TRY(const mysql::Rows rows, connection.query("SELECT 1 FROM email_statuses WHERE email_id IN " +
                                                   placeholders(ids.size()) + " AND transition = ? LIMIT 1",
                                               parameters));
  return !rows.empty();
}

mysql::Result<void> MysqlLedger::remove_lines_of_lost(Connection& connection, const std::vector<std::string>& ids,
                                                      std::int64_t transition) {
  if (ids.empty()) return {};
  std::vector<mysql::Parameter> parameters(ids.begin(), ids.end());
  parameters.emplace_back(transition);
  TRY(const mysql::Rows rows, connection.query("SELECT id FROM email_statuses WHERE email_id IN " +
                                                   placeholders(ids.size()) + " AND transition = ?",
                                               parameters));
  if (rows.empty()) return {};
  base::log_warning("outbox", "the database kept lines of history of a transaction that it did not commit",
                    {{"lines", std::to_string(rows.size())}, {"email", ids.front()}});
  for (const mysql::Row row : rows)
    TRY_VOID(connection.execute("DELETE FROM email_statuses WHERE id = ?", {row.number(0)}));
  return {};
}

base::Result<std::vector<std::string>> MysqlLedger::amend(const std::vector<Change>& changes) {
  std::vector<std::string> written;
  for (std::size_t begin = 0; begin < changes.size();) {
    // Those that write the same share a statement: leases are renewed together.
    const Amendment amendment = amendment_of(changes[begin]);
    std::size_t end = begin + 1;
    while (end < changes.size() && end - begin < max_ledger_batch && amendment_of(changes[end]) == amendment) ++end;
    const std::span batch = std::span(changes).subspan(begin, end - begin);
    Parameters versions;
    for (const Change& change : batch) {
      versions.add(change.before.id);
      versions.add(change.before.version);
    }
    const std::size_t size = rounded_up(batch.size());
    versions.repeat_last(2, 2 * size);
    std::string condition = "(id = ? AND version = ?)";
    for (std::size_t i = 1; i < size; ++i) condition += " OR (id = ? AND version = ?)";
    const auto current =
        database_.read([&](Connection& connection, const Attempt&) -> mysql::Result<std::vector<std::string>> {
          std::vector<mysql::Parameter> parameters(amendment.values.begin(), amendment.values.end());
          parameters.insert(parameters.end(), versions.list().begin(), versions.list().end());
          TRY(const std::uint64_t changed,
              connection.execute("UPDATE emails FORCE INDEX (PRIMARY) SET " + amendment.assignments +
                                     "updated_at = updated_at WHERE " + condition,
                                 parameters));
          std::vector<std::string> ids;
          if (changed == batch.size()) {
            for (const Change& change : batch) ids.push_back(change.before.id);
            return ids;
          }
          // Some have moved on, or had these values before, which does not count as a change.
          TRY(const mysql::Rows rows,
              connection.query("SELECT id FROM emails FORCE INDEX (PRIMARY) WHERE " + condition, versions.list()));
          for (const mysql::Row row : rows) ids.emplace_back(row.text(0));
          return ids;
        });
    if (!current) return base::propagate(mysql::as_write_error(current.error()));
    written.insert(written.end(), current->begin(), current->end());
    begin = end;
  }
  return written;
}

base::Result<void> MysqlLedger::record_bounce(const std::string& id, const Bounce& bounce) {
  static const std::string sql = "SELECT " + email_columns + " FROM emails WHERE id = ? FOR UPDATE";
  const std::int64_t transition = new_transition();
  base::Result<void> outcome;
  const auto done = database_.transact([&](Connection& connection, const Attempt& attempt) -> mysql::Result<void> {
    outcome = {};
    TRY(const mysql::Rows rows, connection.query(sql, {id}));
    if (rows.empty()) {
      outcome = base::fail(base::ErrorCode::not_found, "there is no e-mail " + id);
      return {};
    }
    if (attempt.commit_unknown) {
      TRY(const bool committed, was_committed(connection, {id}, transition));
      if (committed) return {};
    }
    auto row = email_row_of(rows[0]);
    if (!row) {
      outcome = base::propagate(row.error());
      return {};
    }
    const auto change = decide(std::move(row->email), event::Bounced{bounce}, policy_, clock_.now());
    if (!change) {
      outcome = base::propagate(change.error());
      return {};
    }
    if (change->lines.empty()) return {};
    TRY_VOID(connection.execute("UPDATE emails SET bounces = ?, updated_at = updated_at WHERE id = ?",
                                {bounces_json(change->after), id}));
    std::vector<Line> lines;
    add_lines(*change, lines);
    return write_lines(connection, lines, transition);
  });
  if (!done) return base::propagate(mysql::as_write_error(done.error()));
  return outcome;
}

}  // namespace postino::outbox
