#include "outbox/mysql_ledger/mysql_migration.h"

#include <memory>

#include "mysql/connection.h"
#include "outbox/email/email.h"
#include "outbox/mysql_ledger/mysql_schema.h"

namespace postino::outbox {

namespace {

using mysql::Connection;

// Copying a large table takes its time.
constexpr base::Milliseconds longest_statement = std::chrono::hours(24);

// Names of locks are the server's, not the database's, and no longer than 64 characters.
constexpr std::string_view lock_name = "CONCAT('postino migrate ', SHA1(DATABASE()))";

constexpr std::string_view create_record =
    "CREATE TABLE IF NOT EXISTS postino_migrations ("
    " number INT PRIMARY KEY, name VARCHAR(200) NOT NULL, done_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,"
    " program_version VARCHAR(100) NOT NULL) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4";

base::Result<std::unique_ptr<Connection>> connect(mysql::ServerOptions server, base::Milliseconds statement_timeout) {
  server.statement_timeout = statement_timeout;
  auto connection = Connection::open(server);
  if (!connection) return base::propagate(mysql::as_error(connection.error()));
  return std::move(*connection);
}

// The last one that was done: they are done in their order.
mysql::Result<int> last_done(Connection& connection) {
  TRY(const mysql::Rows tables,
      connection.query("SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = DATABASE()"
                       " AND TABLE_NAME = 'postino_migrations'"));
  if (tables[0].number(0) == 0) return 0;
  TRY(const mysql::Rows rows, connection.query("SELECT COALESCE(MAX(number), 0) FROM postino_migrations"));
  return static_cast<int>(rows[0].number(0));
}

base::Result<int> known_last_done(Connection& connection) {
  const auto done = last_done(connection);
  if (!done) return base::propagate(mysql::as_error(done.error()));
  const int newest = mysql_migrations().back().number;
  if (*done > newest)
    return base::fail(base::ErrorCode::conflict, "the database is at migration " + std::to_string(*done) +
                                                     ", but this version of Postino supports only " +
                                                     std::to_string(newest) + ": use a newer version of Postino");
  return *done;
}

// Held until the connection ends, however that comes about.
base::Result<void> lock(Connection& connection, base::Milliseconds wait) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
  const auto rows = connection.query("SELECT GET_LOCK(" + std::string(lock_name) + ", ?)", {seconds});
  if (!rows) return base::propagate(mysql::as_error(rows.error()));
  if ((*rows)[0].number(0) == 1) return {};
  return base::fail(base::ErrorCode::conflict, "another program is migrating the database");
}

mysql::Result<void> run(Connection& connection, const Migration& migration, const std::string& program_version) {
  TRY_VOID(migration.run(connection));
  TRY_VOID(connection.execute("INSERT INTO postino_migrations (number, name, program_version) VALUES (?, ?, ?)",
                              {migration.number, migration.name, program_version}));
  return {};
}

}  // namespace

base::Result<int> pending_migrations(const mysql::ServerOptions& server) {
  TRY(const auto connection, connect(server, server.statement_timeout));
  TRY(const int done, known_last_done(*connection));
  return mysql_migrations().back().number - done;
}

base::Result<int> pending_after_others(const mysql::ServerOptions& server, base::Milliseconds wait) {
  TRY(const auto connection, connect(server, longest_statement));
  TRY_VOID(lock(*connection, wait));
  return pending_migrations(server);
}

base::Result<std::vector<DoneMigration>> migrate(const mysql::ServerOptions& server, const MigrationOptions& options) {
  TRY(const auto connection, connect(server, longest_statement));
  TRY_VOID(lock(*connection, options.wait));
  TRY(const int before, known_last_done(*connection));
  if (const auto record = connection->run(create_record); !record)
    return base::propagate(mysql::as_error(record.error()));
  std::vector<DoneMigration> done;
  for (const Migration& migration : mysql_migrations()) {
    if (migration.number <= before || (options.up_to != 0 && migration.number > options.up_to)) continue;
    if (const auto ran = run(*connection, migration, options.program_version); !ran) {
      base::Error error = mysql::as_error(ran.error());
      error.message = "migration " + std::to_string(migration.number) + ": " + error.message;
      return base::propagate(error);
    }
    done.push_back({migration.number, std::string(migration.name)});
  }
  return done;
}

base::Result<std::uint64_t> take_over_callbacks(const mysql::ServerOptions& server, base::Milliseconds wait) {
  TRY(const auto connection, connect(server, longest_statement));
  TRY_VOID(lock(*connection, wait));
  // As if they had been finished here, just now: the whole e-mail was sent, and only replies of mail servers are for
  // receivers. They may have been adopted since. Then the other program owns them; those that an earlier version has
  // counted, and Postino has never moved, have no `reached`.
  const auto taken = connection->execute(
      "UPDATE emails SET due_ms = FLOOR(UNIX_TIMESTAMP(CURRENT_TIMESTAMP(3)) * 1000), expires_ms = NULL, owner = '',"
      " updated_ms = UNIX_TIMESTAMP(updated_at) * 1000, ledger_version = version, updated_at = updated_at,"
      " recipients = IF(status IN ('SENT', 'CALLING-SENT-CALLBACK'),"
      " REPLACE(recipients, '\"state\":\"pending\"', '\"state\":\"delivered\"'), recipients),"
      " internal_reason = COALESCE(reason, '') <> '' AND NOT reason REGEXP '^[245][0-9][0-9]([ -]|$)'"
      " WHERE (status IN ('SENT', 'FAILED', 'INVALID')"
      " AND (ledger_version <> version OR (due_ms IS NULL AND (owner = ? OR reached IS NULL))))"
      " OR (status IN ('CALLING-SENT-CALLBACK', 'CALLING-FAILED-CALLBACK', 'CALLING-INVALID-CALLBACK')"
      " AND ledger_version <> version)",
      {foreign_owner});
  if (!taken) return base::propagate(mysql::as_error(taken.error()));
  return *taken;
}

}  // namespace postino::outbox
