// The end of what has expired: a few rows at a time, by their keys, without waiting for locks.
#include <algorithm>
#include <limits>
#include <optional>

#include "base/log.h"
#include "outbox/mysql_ledger/mysql_work_conditions.h"
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

// A record among the keys that is no hash of a key, and does not expire.
constexpr const char* last_seen_key = "last-seen";
constexpr const char* spool_row = "spool";
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

constexpr base::Milliseconds looked_at_again_after = std::chrono::hours(24);

bool is_row_finished(std::string_view status, bool is_due, bool is_callback_dead) {
  const auto state = parse_state(status);
  if (!state) return false;
  Email email;
  email.state = *state;
  if (is_due) email.due_at = base::TimePoint();
  email.callback_dead = is_callback_dead;
  return is_finished(email);
}

// What is not finished never expires: it gets its time again when it ends.
mysql::Result<void> keep_email(Connection& connection, std::string_view id) {
  TRY_VOID(connection.execute("UPDATE emails SET expires_ms = NULL, updated_at = updated_at WHERE id = ?", {id}));
  return {};
}

// The columns of sweep_emails().
namespace swept {
enum : std::size_t { id, tenant, ledger_status, status, due, callback_dead, expires };
constexpr const char* columns = "id, tenant, ledger_status, status, due_ms, callback_dead, expires_ms";
}  // namespace swept

// An object goes after its e-mail, which may end late.
mysql::Result<bool> is_object_needed(Connection& connection, const mysql::Row& row, base::TimePoint now) {
  const std::string id = id_in_spool_path(row.text(0));
  TRY(const mysql::Rows rows,
      connection.query("SELECT 1 FROM emails WHERE id = ? AND (expires_ms IS NULL OR expires_ms > ?)",
                       {id, base::epoch_milliseconds(now)}));
  return !rows.empty();
}
mysql::Result<void> keep_part(Connection& connection, const mysql::Row& row, base::TimePoint now) {
  TRY_VOID(connection.execute("UPDATE email_spool SET expires_ms = ? WHERE path = ? AND part = ?",
                              {base::epoch_milliseconds(now + looked_at_again_after), row.text(0), row.number(1)}));
  return {};
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

mysql::Result<void> remove_record(Connection& connection, const mysql::Row& row) {
  TRY_VOID(connection.execute("DELETE FROM idempotency_records WHERE key_hash = ?", {row.text(0)}));
  return {};
}
mysql::Result<void> remove_answer(Connection& connection, const mysql::Row& row) {
  TRY_VOID(connection.execute("DELETE FROM idempotency_answers WHERE key_hash = ? AND part = ?",
                              {row.text(0), row.number(1)}));
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

// One that was finished before Postino came, as the migration has marked it. It is counted from now on, and gets the
// time that it is kept for.
mysql::Result<void> MysqlLedger::adopt_finished(Connection& connection, const std::string& id,
                                                CountDifferences& counts) {
  static const std::string sql = "SELECT " + email_columns + " FROM emails WHERE id = ?";
  TRY(const mysql::Rows rows, connection.query(sql, {id}));
  const auto row = readable(rows[0]);
  return row ? write_ended(connection, *row, counts) : keep_email(connection, id);
}

base::Result<int> MysqlLedger::sweep_emails(int limit) {
  return in_batches(limit, [&](int wanted) {
    const CountLanes::Lane lane(lanes_);
    return database_.transact([&](Connection& connection, const Attempt&) -> mysql::Result<int> {
      TRY(const mysql::Rows rows, lock_expired(connection, swept::columns, "emails", clock_.now(), wanted));
      CountDifferences counts;
      for (const mysql::Row row : rows) {
        if (!is_row_finished(row.text(swept::status), !row.is_null(swept::due),
                             row.number(swept::callback_dead) != 0)) {
          TRY_VOID(keep_email(connection, row.text(swept::id)));
          continue;
        }
        if (row.number(swept::expires) == 0) {
          TRY_VOID(adopt_finished(connection, std::string(row.text(swept::id)), counts));
          continue;
        }
        TRY_VOID(remove_email(connection, row));
        if (const auto state = parse_state(row.text(swept::ledger_status)))
          counts.left(std::string(row.text(swept::tenant)), *state);
      }
      TRY_VOID(counts.write(connection, lane.slice()));
      return static_cast<int>(rows.size());
    });
  });
}

// What waits is due at once, unless it has a time to be sent; what is worked on gets a lease that its worker can renew.
base::Result<int> MysqlLedger::give_missing_times(int limit) {
  TRY(const int early, give_times_where(is_before_all_time_condition(), limit));
  TRY(const int without, give_times_where(is_without_time_condition(), limit));
  return early + without;
}

base::Result<int> MysqlLedger::give_times_where(const std::string& condition, int limit) {
  const std::string sql = "SELECT id FROM emails FORCE INDEX (idx_work) WHERE " + condition + " AND shard IN (" +
                          all_shards() + ") LIMIT ? FOR UPDATE SKIP LOCKED";
  static const std::string update =
      "UPDATE emails SET due_ms = IF(" + is_working_condition() + ", ?, 0), updated_at = updated_at WHERE id = ?";
  return in_batches(limit, [&](int wanted) {
    return database_.transact([&](Connection& connection, const Attempt&) -> mysql::Result<int> {
      TRY(const mysql::Rows rows, connection.query(sql, {wanted}));
      if (rows.empty()) return 0;
      base::log_warning("outbox", "e-mails had no time at which a worker would find them, and get one",
                        {{"emails", std::to_string(rows.size())}, {"first", std::string(rows[0].text(0))}});
      const std::int64_t lease_end = base::epoch_milliseconds(clock_.now() + policy_.lease);
      for (const mysql::Row row : rows) TRY_VOID(connection.execute(update, {lease_end, row.text(0)}));
      return static_cast<int>(rows.size());
    });
  });
}

base::Result<int> MysqlLedger::sweep_objects(int limit) {
  return in_batches(limit, [&](int wanted) {
    return database_.transact([&](Connection& connection, const Attempt&) -> mysql::Result<int> {
      const base::TimePoint now = clock_.now();
      TRY(const mysql::Rows rows, lock_expired(connection, "path, part", "email_spool", now, wanted));
      for (const mysql::Row row : rows) {
        TRY(const bool needed, is_object_needed(connection, row, now));
        TRY_VOID(needed ? keep_part(connection, row, now) : remove_part(connection, row));
      }
      return static_cast<int>(rows.size());
    });
  });
}

base::Result<int> MysqlLedger::sweep_table(const std::string& table, const std::string& columns,
                                           const RemoveRow& remove, int limit) {
  return in_batches(limit, [&](int wanted) {
    return database_.transact([&](Connection& connection, const Attempt&) -> mysql::Result<int> {
      TRY(const mysql::Rows rows, lock_expired(connection, columns, table, clock_.now(), wanted));
      for (const mysql::Row row : rows) TRY_VOID(remove(connection, row));
      return static_cast<int>(rows.size());
    });
  });
}

base::Result<int> MysqlLedger::sweep_keys(int limit) {
  TRY(const int keys, sweep_table("email_accept_keys", "key_hash", remove_key, limit));
  TRY(const int records, sweep_table("idempotency_records", "key_hash", remove_record, limit));
  TRY(const int answers, sweep_table("idempotency_answers", "key_hash, part", remove_answer, limit));
  return keys + records + answers;
}

base::Result<int> MysqlLedger::sweep(int limit) {
  TRY(const int given, give_missing_times(limit));
  TRY(const int emails, sweep_emails(limit));
  TRY(const int objects, sweep_objects(limit));
  TRY(const int keys, sweep_keys(limit));
  return given + emails + objects + keys;
}

base::Result<std::optional<base::TimePoint>> MysqlLedger::last_seen() {
  const auto rows = database_.read([&](Connection& connection, const Attempt&) {
    return connection.query(
        "SELECT CAST(CONVERT(response USING ascii) AS SIGNED) FROM email_accept_keys"
        " WHERE key_hash = ? AND response IS NOT NULL",
        {last_seen_key});
  });
  if (!rows) return base::propagate(mysql::as_error(rows.error()));
  if (rows->empty()) return std::nullopt;
  return base::from_epoch_milliseconds((*rows)[0].number(0));
}

base::Result<void> MysqlLedger::note_last_seen(base::TimePoint now) {
  const auto written = database_.read([&](Connection& connection, const Attempt&) {
    return connection.execute(
        "INSERT INTO email_accept_keys (key_hash, request_hash, owner, response, expires_ms) VALUES (?, '', '', ?, ?)"
        " ON DUPLICATE KEY UPDATE response = VALUES(response)",
        {last_seen_key, std::to_string(base::epoch_milliseconds(now)), never});
  });
  if (!written) return base::propagate(mysql::as_error(written.error()));
  return {};
}

// "{id} {place}", or nothing when there is none.
base::Result<SpoolNote> MysqlLedger::noted_spool() {
  const auto rows = database_.read([&](Connection& connection, const Attempt&) {
    return connection.query("SELECT response FROM email_accept_keys WHERE key_hash = ? AND response IS NOT NULL",
                            {spool_row});
  });
  if (!rows) return base::propagate(mysql::as_error(rows.error()));
  if (rows->empty()) return SpoolNote();
  const std::string noted((*rows)[0].text(0));
  const std::size_t space = noted.find(' ');
  if (space == std::string::npos) return SpoolNote();
  return SpoolNote{noted.substr(0, space), noted.substr(space + 1)};
}

base::Result<void> MysqlLedger::note_spool(const SpoolNote& spool, const std::string& replaced) {
  const std::string noted = spool.id.empty() ? "" : spool.id + " " + spool.place;
  const auto written = database_.read([&](Connection& connection, const Attempt&) {
    return connection.execute(
        "INSERT INTO email_accept_keys (key_hash, request_hash, owner, response, expires_ms) VALUES (?, '', '', ?, ?)"
        " ON DUPLICATE KEY UPDATE response ="
        " IF(response IS NULL OR response = '' OR SUBSTRING_INDEX(response, ' ', 1) = ?, VALUES(response), response)",
        {spool_row, noted, never, replaced});
  });
  if (!written) return base::propagate(mysql::as_error(written.error()));
  return {};
}

}  // namespace postino::outbox
