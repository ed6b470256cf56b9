#include "outbox/mysql_ledger/mysql_migration.h"

#include <memory>
#include <optional>

#include "base/log.h"
#include "mysql/connection.h"
#include "outbox/email/state_machine.h"
#include "outbox/mysql_ledger/mysql_counts.h"
#include "outbox/mysql_ledger/mysql_email_row.h"
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

namespace {

// Those of another program that are finished, or that it was calling back for, in the order of their ids. Whether
// Postino may call back for them is not decided here. They may have been adopted since: then the other program owns
// them. Those that an earlier version has counted, and Postino has never moved, have no `reached`.
const std::string& finished_elsewhere() {
  static const std::string sql = [] {
    std::string states;
    for (const State state : all_states())
      if (is_outcome(state) || acknowledged_form(state))
        states += (states.empty() ? "'" : ", '") + std::string(name_of(state)) + "'";
    return "SELECT " + email_columns + " FROM emails FORCE INDEX (PRIMARY) WHERE id > ? AND status IN (" + states +
           ") AND (ledger_version <> version OR (due_ms IS NULL AND (owner = ? OR reached IS NULL)))"
           " ORDER BY id LIMIT ? FOR UPDATE";
  }();
  return sql;
}

mysql::Result<base::TimePoint> time_of(Connection& connection) {
  TRY(const mysql::Rows rows, connection.query("SELECT FLOOR(UNIX_TIMESTAMP(CURRENT_TIMESTAMP(3)) * 1000)"));
  return base::from_epoch_milliseconds(rows[0].number(0));
}

// nullopt when no callback is to be taken over.
std::optional<Email> taken_over(EmailRow row, base::TimePoint now) {
  Email email = std::move(row.email);
  if (row.foreign || row.never_moved) {
    auto adopted = decide(std::move(email), event::Adopted{.is_new = !row.counted_as, .is_moved = true}, {}, now);
    if (!adopted) return std::nullopt;
    email = std::move(adopted->after);
  }
  auto taken = decide(std::move(email), event::CallbackTakenOver{}, {}, now);
  if (!taken) return std::nullopt;
  return std::move(taken->after);
}

// Takes over a few, from those behind this id on, and moves it forward. False at the end.
mysql::Result<bool> take_over_some(Connection& connection, std::string& last_id, std::uint64_t& count) {
  constexpr std::int64_t rows_at_once = 100;
  TRY(const base::TimePoint now, time_of(connection));
  TRY(const mysql::Rows rows, connection.query(finished_elsewhere(), {last_id, foreign_owner, rows_at_once}));
  CountDifferences counts;
  for (const mysql::Row row : rows) {
    last_id = row.text(0);
    auto finished = email_row_of(row);
    if (!finished) {
      base::log_warning("outbox", "a callback cannot be taken over",
                        {{"id", last_id}, {"error", finished.error().message}});
      continue;
    }
    const std::optional<State> counted_as = finished->counted_as;
    const auto email = taken_over(*std::move(finished), now);
    if (!email) continue;
    Parameters parameters;
    add_changed_row(parameters, *email, now);
    TRY_VOID(connection.execute(rewrite_emails(1), parameters.list()));
    if (counted_as) counts.left(email->tenant, *counted_as);
    counts.entered(email->tenant, email->state);
    ++count;
  }
  TRY_VOID(counts.write(connection, 0));
  return !rows.empty();
}

}  // namespace

base::Result<std::uint64_t> take_over_callbacks(const mysql::ServerOptions& server, base::Milliseconds wait) {
  TRY(const auto connection, connect(server, longest_statement));
  TRY_VOID(lock(*connection, wait));
  std::uint64_t taken = 0;
  std::string last_id;
  const auto take_all = [&]() -> mysql::Result<void> {
    for (bool more = true; more;) {
      TRY_VOID(connection->begin());
      TRY(more, take_over_some(*connection, last_id, taken));
      TRY_VOID(connection->commit());
    }
    return {};
  };
  if (const auto done = take_all(); !done) return base::propagate(mysql::as_error(done.error()));
  return taken;
}

}  // namespace postino::outbox
