// The end of what has expired: a few rows at a time, by their keys, without waiting for locks.
#include <algorithm>

#include "outbox/mysql_ledger/mysql_work_queue.h"

namespace postino::outbox {

using mysql::Attempt;
using mysql::Connection;

namespace {

constexpr int batch = 100;

// The keys of what has expired and is not locked.
mysql::Result<mysql::Rows> lock_expired(Connection& connection, const std::string& columns, const std::string& table,
                                        base::TimePoint now, int limit) {
  return connection.query("SELECT " + columns + " FROM " + table +
                              " FORCE INDEX (idx_expires) WHERE expires_ms <= ? ORDER BY expires_ms LIMIT ?"
                              " FOR UPDATE SKIP LOCKED",
                          {base::epoch_milliseconds(now), limit});
}

// One by one: told of many keys, the database may choose to look at every row, and wait for those that others have
// locked.
mysql::Result<void> remove_email(Connection& connection, const mysql::Row& row) {
  TRY_VOID(connection.execute("DELETE FROM emails WHERE id = ?", {row.text(0)}));  // the history goes with it
  return {};
}
mysql::Result<void> remove_part(Connection& connection, const mysql::Row& row) {
  TRY_VOID(connection.execute("DELETE FROM email_spool WHERE path = ? AND part = ?", {row.text(0), row.number(1)}));
  return {};
}
mysql::Result<void> remove_key(Connection& connection, const mysql::Row& row) {
  TRY_VOID(connection.execute("DELETE FROM email_accept_keys WHERE key_hash = ?", {row.text(0)}));
  return {};
}

// Repeats `once`, which takes how many it may remove at most and answers how many it did, up to the limit.
template <class Once>
base::Result<int> in_batches(int limit, const Once& once) {
  int removed = 0;
  while (removed < limit) {
    const int wanted = std::min(batch, limit - removed);
    const auto count = once(wanted);
    if (!count) return base::propagate(mysql::as_error(count.error()));
    removed += *count;
    if (*count < wanted) break;
  }
  return removed;
}

}  // namespace

base::Result<int> MysqlLedger::sweep_emails(int limit) {
  return in_batches(limit, [&](int wanted) {
    const CountLanes::Lane lane(lanes_);
    return database_.transact([&](Connection& connection, const Attempt&) -> mysql::Result<int> {
      TRY(const mysql::Rows rows,
          lock_expired(connection, "id, tenant, ledger_status", "emails", clock_.now(), wanted));
      CountDifferences counts;
      for (const mysql::Row row : rows) {
        TRY_VOID(remove_email(connection, row));
        if (const auto state = parse_state(row.text(2))) counts.left(std::string(row.text(1)), *state);
      }
      TRY_VOID(counts.write(connection, lane.slice()));
      return static_cast<int>(rows.size());
    });
  });
}

base::Result<int> MysqlLedger::sweep_objects(int limit) {
  return in_batches(limit, [&](int wanted) {
    return database_.transact([&](Connection& connection, const Attempt&) -> mysql::Result<int> {
      TRY(const mysql::Rows rows, lock_expired(connection, "path, part", "email_spool", clock_.now(), wanted));
      for (const mysql::Row row : rows) TRY_VOID(remove_part(connection, row));
      return static_cast<int>(rows.size());
    });
  });
}

base::Result<int> MysqlLedger::sweep_keys(int limit) {
  return in_batches(limit, [&](int wanted) {
    return database_.transact([&](Connection& connection, const Attempt&) -> mysql::Result<int> {
      TRY(const mysql::Rows rows, lock_expired(connection, "key_hash", "email_accept_keys", clock_.now(), wanted));
      for (const mysql::Row row : rows) TRY_VOID(remove_key(connection, row));
      return static_cast<int>(rows.size());
    });
  });
}

base::Result<int> MysqlLedger::sweep(int limit) {
  TRY(const int emails, sweep_emails(limit));
  TRY(const int objects, sweep_objects(limit));
  TRY(const int keys, sweep_keys(limit));
  return emails + objects + keys;
}

}  // namespace postino::outbox
