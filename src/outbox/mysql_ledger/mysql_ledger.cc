#include "outbox/mysql_ledger/mysql_ledger.h"

#include <algorithm>

#include "outbox/ledger/transitions.h"
#include "outbox/mysql_ledger/mysql_work_queue.h"

namespace postino::outbox {

using mysql::Answer;
using mysql::Attempt;
using mysql::Connection;

MysqlLedger::MysqlLedger(mysql::Database& database, Spool& spool, const base::Clock& clock, base::Random& random,
                         MysqlLedgerOptions options)
    : database_(database),
      spool_(spool),
      own_spool_(dynamic_cast<MysqlSpool*>(&spool)),
      clock_(clock),
      random_(random),
      options_(std::move(options)),
      lanes_(random) {
  for (const State state : all_states())
    if (kind_of(state) == StateKind::waiting)
      for (int shard = 0; shard < mysql_shards; ++shard)
        queues_.emplace(std::pair(state, shard), std::make_unique<WorkQueue>(state, shard));
}

MysqlLedger::~MysqlLedger() = default;

base::Result<std::vector<EmailRow>> MysqlLedger::read_rows(const std::string& sql,
                                                           std::span<const mysql::Parameter> parameters) {
  const auto rows =
      database_.read([&](Connection& connection, const Attempt&) { return connection.query(sql, parameters); });
  if (!rows) return base::propagate(mysql::as_error(rows.error()));
  std::vector<EmailRow> emails;
  emails.reserve(rows->size());
  for (const mysql::Row row : *rows) {
    TRY(EmailRow email, email_row_of(row));
    emails.push_back(std::move(email));
  }
  return emails;
}

base::Result<std::vector<Email>> MysqlLedger::read_emails(const std::string& sql,
                                                          std::span<const mysql::Parameter> parameters) {
  TRY(std::vector<EmailRow> rows, read_rows(sql, parameters));
  std::vector<Email> emails;
  emails.reserve(rows.size());
  for (EmailRow& row : rows) emails.push_back(std::move(row.email));
  return emails;
}

base::Result<std::optional<Email>> MysqlLedger::find(const std::string& id) {
  static const std::string sql = "SELECT " + email_columns + " FROM emails WHERE id = ?";
  const mysql::Parameter parameter(id);
  TRY(std::vector<Email> emails, read_emails(sql, std::span(&parameter, 1)));
  // The column's rules for what is equal are laxer than ours.
  if (emails.empty() || emails.front().id != id) return std::nullopt;
  return std::optional<Email>(std::move(emails.front()));
}

base::Result<std::vector<HistoryEntry>> MysqlLedger::history(const std::string& id) {
  const auto rows = database_.read([&](Connection& connection, const Attempt&) {
    return connection.query(
        "SELECT status, reason, COALESCE(at_ms, UNIX_TIMESTAMP(created_at) * 1000), version, email_id"
        " FROM email_statuses WHERE email_id = ? ORDER BY id",
        {id});
  });
  if (!rows) return base::propagate(mysql::as_error(rows.error()));
  std::vector<HistoryEntry> entries;
  for (const mysql::Row row : *rows) {
    if (row.text(4) != id) continue;
    // Other programs do not write the version; each of their lines is one.
    const std::int64_t next = entries.empty() ? 1 : entries.back().version + 1;
    entries.push_back({std::string(row.text(0)), base::from_epoch_milliseconds(row.number(2)), std::string(row.text(1)),
                       row.optional_number(3).value_or(next)});
  }
  return entries;
}

base::Result<Counts> MysqlLedger::counts(const std::optional<std::string>& tenant) {
  const auto counts =
      database_.read([&](Connection& connection, const Attempt&) { return read_counts(connection, tenant); });
  if (!counts) return base::propagate(mysql::as_error(counts.error()));
  return *counts;
}

base::Result<std::string> MysqlLedger::spool(SpoolObject object, std::vector<MysqlSpool::Placed>& placed) {
  if (own_spool_ == nullptr) return spool_.write(object);
  std::string path = own_spool_->new_path(object);
  placed.push_back({path, std::move(object)});
  return path;
}

Answer<void> MysqlLedger::write_lines(Connection& connection, const std::vector<Line>& lines, std::int64_t transition) {
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < lines.size(); begin += count) {
    count = rounded_down(lines.size() - begin);
    Parameters parameters;
    for (std::size_t i = begin; i < begin + count; ++i) {
      const HistoryEntry& entry = lines[i].entry;
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

Answer<bool> MysqlLedger::was_committed(Connection& connection, const std::vector<std::string>& ids,
                                        std::int64_t transition) {
  if (ids.empty()) return false;
  std::vector<mysql::Parameter> parameters(ids.begin(), ids.end());
  parameters.emplace_back(transition);
  TRY(const mysql::Rows rows, connection.query("SELECT 1 FROM email_statuses WHERE email_id IN " +
                                                   placeholders(ids.size()) + " AND transition = ? LIMIT 1",
                                               parameters));
  return !rows.empty();
}

base::Result<void> MysqlLedger::touch(const Email& email, const std::string& assignments,
                                      std::initializer_list<mysql::Parameter> values) {
  const auto current = database_.read([&](Connection& connection, const Attempt&) -> Answer<bool> {
    std::vector<mysql::Parameter> parameters(values);
    parameters.emplace_back(email.id);
    parameters.emplace_back(email.version);
    TRY(const std::uint64_t changed,
        connection.execute(
            "UPDATE emails SET " + assignments + ", updated_at = updated_at WHERE id = ? AND version = ?", parameters));
    if (changed > 0) return true;
    // What was so before is not changed.
    TRY(const mysql::Rows rows,
        connection.query("SELECT 1 FROM emails WHERE id = ? AND version = ?", {email.id, email.version}));
    return !rows.empty();
  });
  if (!current) return base::propagate(mysql::as_error(current.error()));
  if (!*current) return base::fail(base::ErrorCode::conflict, "e-mail " + email.id + " has moved on");
  return {};
}

base::Result<void> MysqlLedger::mark_outcome_unknown(const Email& email) {
  return touch(email, "outcome_unknown = TRUE", {});
}

base::Result<void> MysqlLedger::postpone(const Email& email, base::TimePoint due) {
  return touch(email, "due_ms = ?", {base::epoch_milliseconds(due)});
}

base::Result<void> MysqlLedger::revive_callback(const Email& email, base::TimePoint due) {
  return touch(email, "due_ms = ?, callback_dead = FALSE, callback_attempts = 0", {base::epoch_milliseconds(due)});
}

base::Result<std::vector<std::string>> MysqlLedger::renew(const std::vector<Email>& emails, base::TimePoint until) {
  std::vector<std::string> kept;
  for (std::size_t begin = 0; begin < emails.size(); begin += max_ledger_batch) {
    const std::span batch = std::span(emails).subspan(begin, std::min(max_ledger_batch, emails.size() - begin));
    Parameters versions;
    for (const Email& email : batch) {
      versions.add(email.id);
      versions.add(email.version);
    }
    const std::size_t size = rounded_up(batch.size());
    versions.repeat_last(2, 2 * size);
    std::string condition = "(id = ? AND version = ?)";
    for (std::size_t i = 1; i < size; ++i) condition += " OR (id = ? AND version = ?)";
    const auto current = database_.read([&](Connection& connection, const Attempt&) -> Answer<mysql::Rows> {
      std::vector<mysql::Parameter> parameters = {base::epoch_milliseconds(until)};
      parameters.insert(parameters.end(), versions.list().begin(), versions.list().end());
      TRY_VOID(connection.execute(
          "UPDATE emails FORCE INDEX (PRIMARY) SET due_ms = ?, updated_at = updated_at WHERE " + condition,
          parameters));
      return connection.query("SELECT id FROM emails FORCE INDEX (PRIMARY) WHERE " + condition, versions.list());
    });
    if (!current) return base::propagate(mysql::as_error(current.error()));
    for (const mysql::Row row : *current) kept.emplace_back(row.text(0));
  }
  return kept;
}

base::Result<void> MysqlLedger::record_bounce(const std::string& id, const Bounce& bounce) {
  static const std::string sql = "SELECT " + email_columns + " FROM emails WHERE id = ? FOR UPDATE";
  const std::int64_t transition = new_transition();
  base::Result<void> outcome;
  const auto done = database_.transact([&](Connection& connection, const Attempt& attempt) -> Answer<void> {
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
    Email& email = row->email;
    if (email.bounces.size() >= max_bounces) return {};
    email.bounces.push_back(bounce);
    TRY_VOID(connection.execute("UPDATE emails SET bounces = ?, updated_at = updated_at WHERE id = ?",
                                {bounces_json(email), id}));
    return write_lines(connection, {{&email.id, line_of(email, bounce)}}, transition);
  });
  if (!done) return base::propagate(mysql::as_error(done.error()));
  return outcome;
}

}  // namespace postino::outbox
