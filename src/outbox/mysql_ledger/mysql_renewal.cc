// Renewing leases, and finding out whether the database can be written.
#include <algorithm>
#include <map>

#include "outbox/mysql_ledger/mysql_work_queue.h"

namespace postino::outbox {

using mysql::Attempt;
using mysql::Connection;

// Locks those that are not locked by others and are still of their version, and writes the new end of their leases.
// Then it tells those that have moved on from those that are locked.
mysql::Result<void> MysqlLedger::renew_chunk(Connection& connection, std::span<const Change> renewals,
                                             Renewals& outcome) {
  Parameters ids;
  for (const Change& renewal : renewals) ids.add(renewal.before.id);
  const std::size_t size = rounded_up(renewals.size());
  ids.repeat_last(1, size);
  const std::string where = " FROM emails FORCE INDEX (PRIMARY) WHERE id IN " + placeholders(size);
  TRY(const mysql::Rows free,
      connection.query("SELECT id, version" + where + " ORDER BY id FOR UPDATE SKIP LOCKED", ids.list()));
  std::map<std::string_view, std::int64_t> versions;
  for (const mysql::Row row : free) versions.emplace(row.text(0), row.number(1));
  Parameters kept;
  for (const Change& renewal : renewals) {
    const auto found = versions.find(renewal.before.id);
    if (found == versions.end()) continue;
    const bool is_ours = found->second == renewal.before.version;
    (is_ours ? outcome.kept : outcome.lost).push_back(renewal.before.id);
    if (is_ours) kept.add(renewal.before.id);
  }
  if (!kept.list().empty()) {
    kept.repeat_last(1, rounded_up(kept.list().size()));
    // They are renewed together, from one moment on.
    std::vector<mysql::Parameter> parameters{base::epoch_milliseconds(*renewals.front().after.due_at)};
    parameters.insert(parameters.end(), kept.list().begin(), kept.list().end());
    TRY_VOID(
        connection.execute("UPDATE emails FORCE INDEX (PRIMARY) SET due_ms = ?, updated_at = updated_at"
                           " WHERE id IN " +
                               placeholders(kept.list().size()),
                           parameters));
  }
  if (versions.size() == renewals.size()) return {};
  TRY(const mysql::Rows all, connection.query("SELECT id, version" + where, ids.list()));
  std::map<std::string_view, std::int64_t> present;
  for (const mysql::Row row : all) present.emplace(row.text(0), row.number(1));
  for (const Change& renewal : renewals) {
    if (versions.contains(renewal.before.id)) continue;
    const auto found = present.find(renewal.before.id);
    if (found == present.end() || found->second != renewal.before.version) outcome.lost.push_back(renewal.before.id);
  }
  return {};
}

Renewals MysqlLedger::renew(const std::vector<Change>& renewals) {
  Renewals outcome;
  for (std::size_t begin = 0; begin < renewals.size(); begin += max_ledger_batch) {
    const std::span chunk = std::span(renewals).subspan(begin, std::min(max_ledger_batch, renewals.size() - begin));
    Renewals part;
    const auto done = database_.transact([&](Connection& connection, const Attempt&) -> mysql::Result<void> {
      part = {};
      return renew_chunk(connection, chunk, part);
    });
    if (!done) {
      outcome.error = mysql::as_error(done.error()).message;
      continue;
    }
    std::ranges::move(part.kept, std::back_inserter(outcome.kept));
    std::ranges::move(part.lost, std::back_inserter(outcome.lost));
  }
  return outcome;
}

// The row goes with expired keys.
base::Result<void> MysqlLedger::try_write() {
  const auto written = database_.read([&](Connection& connection, const Attempt&) {
    return connection.execute(
        "INSERT INTO email_accept_keys (key_hash, request_hash, owner, expires_ms) VALUES (?, '', '', ?)"
        " ON DUPLICATE KEY UPDATE expires_ms = VALUES(expires_ms)",
        {test_key_, base::epoch_milliseconds(clock_.now() + std::chrono::hours(24))});
  });
  if (!written) return base::propagate(mysql::as_error(written.error()));
  return {};
}

}  // namespace postino::outbox
