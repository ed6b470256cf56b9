#include "outbox/mysql_ledger/mysql_schema.h"

#include <algorithm>
#include <array>

namespace postino::outbox {

namespace {

using mysql::Connection;

// As other programs create them, to the letter.
constexpr std::array<std::string_view, 2> first_tables = {
    R"(CREATE TABLE IF NOT EXISTS emails (
    id CHAR(36) PRIMARY KEY,
    status ENUM(
        'ACCEPTED','INTAKING','READY','PROCESSING',
        'SENT','FAILED','INVALID',
        'CALLING-SENT-CALLBACK','CALLING-FAILED-CALLBACK',
        'SENT-ACKNOWLEDGED','FAILED-ACKNOWLEDGED'
    ) NOT NULL,
    eml_file_path VARCHAR(500),
    payload_file_path VARCHAR(500),
    reason TEXT,
    version INT NOT NULL DEFAULT 1,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,

    INDEX idx_status (status),
    INDEX idx_status_updated (status, updated_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4)",
    R"(CREATE TABLE IF NOT EXISTS email_statuses (
    id BIGINT AUTO_INCREMENT PRIMARY KEY,
    email_id CHAR(36) NOT NULL,
    status VARCHAR(50) NOT NULL,
    reason TEXT,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,

    INDEX idx_email_id (email_id),
    FOREIGN KEY (email_id) REFERENCES emails(id) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4)"};

// Types. Those of Postino compare exactly, whatever the database does with other text.
const std::string states =
    "ENUM('ACCEPTED','INTAKING','READY','PROCESSING','SENT','FAILED','INVALID','CALLING-SENT-CALLBACK',"
    "'CALLING-FAILED-CALLBACK','SENT-ACKNOWLEDGED','FAILED-ACKNOWLEDGED','CALLING-INVALID-CALLBACK',"
    "'INVALID-ACKNOWLEDGED','HELD','CANCELLED')";
const std::string name = "VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL";
const std::string word = "VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin";
const std::string engine = " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4";

// What is added to a table: a column or an index, with its definition.
struct Addition {
  std::string name;
  std::string definition;
};
using Additions = std::vector<Addition>;

// Moments are milliseconds since 1970. An e-mail that another program inserts is due at once; what others had brought
// to an end is not. `ledger_version` and `ledger_status` are as Postino wrote them last: another version tells that
// another program has moved the e-mail since. What is worked on is listed under the state that it waited in.
const Additions email_columns_added = {
    {"tenant", name + " DEFAULT ''"},
    {"acceptance", word + " NOT NULL DEFAULT ''"},
    {"ledger_version", "INT NOT NULL DEFAULT 0"},
    {"ledger_status", word + " NULL"},
    {"shard", "TINYINT UNSIGNED GENERATED ALWAYS AS (CRC32(RTRIM(id)) % 4) STORED"},
    {"due_ms",
     "BIGINT NULL DEFAULT (IF(status IN ('ACCEPTED', 'INTAKING', 'READY', 'PROCESSING'),"
     " FLOOR(UNIX_TIMESTAMP(CURRENT_TIMESTAMP(3)) * 1000), NULL))"},
    // A row that is being inserted may not have its created_at yet.
    {"created_ms",
     "BIGINT NOT NULL DEFAULT (IF(UNIX_TIMESTAMP(created_at) > 0, UNIX_TIMESTAMP(created_at) * 1000,"
     " FLOOR(UNIX_TIMESTAMP(CURRENT_TIMESTAMP(3)) * 1000)))"},
    {"updated_ms", "BIGINT NOT NULL DEFAULT 0"},
    {"expires_ms", "BIGINT NULL"},
    {"send_ms", "BIGINT NULL"},
    {"settled_ms", "BIGINT NULL"},
    {"owner", name + " DEFAULT ''"},
    {"outcome_unknown", "BOOLEAN NOT NULL DEFAULT FALSE"},
    {"internal_reason", "BOOLEAN NOT NULL DEFAULT FALSE"},
    {"attempts", "INT NOT NULL DEFAULT 0"},
    {"callback_attempts", "INT NOT NULL DEFAULT 0"},
    {"callback_dead", "BOOLEAN NOT NULL DEFAULT FALSE"},
    {"callback_error", "TEXT NULL"},
    {"callback_url", "TEXT NULL"},
    {"held_from", word + " NULL"},
    {"sender", "TEXT NULL"},
    {"tags", "TEXT NULL"},
    {"recipients", "MEDIUMTEXT NULL"},
    {"bounces", "MEDIUMTEXT NULL"},
    {"reached", "TEXT NULL"},
    {"listed", states +
                   " GENERATED ALWAYS AS (CASE status WHEN 'INTAKING' THEN 'ACCEPTED' WHEN 'PROCESSING' THEN 'READY'"
                   " WHEN 'CALLING-SENT-CALLBACK' THEN 'SENT' WHEN 'CALLING-FAILED-CALLBACK' THEN 'FAILED'"
                   " WHEN 'CALLING-INVALID-CALLBACK' THEN 'INVALID' ELSE status END) STORED"},
};
const Additions subject_added = {{"subject", "TEXT NULL"}};
const Additions time_of_requeue_added = {{"begun_again_ms", "BIGINT NULL"}};
const Additions email_indexes_added = {
    {"idx_work", "(callback_dead, status, shard, due_ms, id)"},
    {"idx_listed", "(listed, created_ms, id)"},
    {"idx_tenant_listed", "(tenant, listed, created_ms, id)"},
    {"idx_expires", "(expires_ms, id)"},
};
// `transition` is a random number that the lines of one commit have in common.
const Additions status_columns_added = {
    {"at_ms", "BIGINT NULL"},
    {"version", "INT NULL"},
    {"transition", "BIGINT NULL"},
};

const std::array<std::string, 4> further_tables = {
    // The tenant '' stands for all tenants. Each number is the sum of its slices.
    "CREATE TABLE IF NOT EXISTS email_counts (tenant " + name + ", status " + word +
        " NOT NULL, slice TINYINT UNSIGNED NOT NULL, amount BIGINT NOT NULL, PRIMARY KEY (tenant, status, slice))" +
        engine,
    "CREATE TABLE IF NOT EXISTS email_suppressions (tenant " + name +
        ", address VARCHAR(400) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, reason TEXT NULL,"
        " since_ms BIGINT NOT NULL, PRIMARY KEY (tenant, address))" +
        engine,
    "CREATE TABLE IF NOT EXISTS email_accept_keys (key_hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,"
    " request_hash VARBINARY(255) NOT NULL, owner " +
        word + " NOT NULL, response LONGBLOB NULL, expires_ms BIGINT NOT NULL, INDEX idx_expires (expires_ms))" +
        engine,
    // Large objects are in several parts.
    "CREATE TABLE IF NOT EXISTS email_spool (path " + name +
        ", part INT NOT NULL, parts INT NOT NULL, content MEDIUMBLOB NOT NULL, expires_ms BIGINT NOT NULL,"
        " PRIMARY KEY (path, part), INDEX idx_expires (expires_ms))" +
        engine};

// Of requests that several servers execute once. A record is an item in JSON, as it would be in the table of a store.
const std::array<std::string, 2> tables_of_keys = {
    "CREATE TABLE IF NOT EXISTS idempotency_records (key_hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin PRIMARY "
    "KEY,"
    " record LONGBLOB NOT NULL, expires_ms BIGINT NOT NULL, INDEX idx_expires (expires_ms))" +
        engine,
    "CREATE TABLE IF NOT EXISTS idempotency_answers (key_hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,"
    " part INT NOT NULL, content MEDIUMBLOB NOT NULL, expires_ms BIGINT NOT NULL,"
    " PRIMARY KEY (key_hash, part), INDEX idx_expires (expires_ms))" +
        engine};

// The names that INFORMATION_SCHEMA has, where they are ours.
mysql::Result<std::vector<std::string>> names_in(Connection& connection, std::string_view catalogue,
                                                 std::string_view column, std::string_view table) {
  const std::string sql = "SELECT DISTINCT " + std::string(column) + " FROM INFORMATION_SCHEMA." +
                          std::string(catalogue) + " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?";
  TRY(const mysql::Rows rows, connection.query(sql, {table}));
  std::vector<std::string> names;
  for (const mysql::Row row : rows) names.emplace_back(row.text(0));
  return names;
}

// The clauses that add what is not there.
mysql::Result<std::string> missing(Connection& connection, std::string_view table, std::string_view what,
                                   const Additions& additions) {
  const bool columns = what == "COLUMN";
  TRY(const std::vector<std::string> known,
      names_in(connection, columns ? "COLUMNS" : "STATISTICS", columns ? "COLUMN_NAME" : "INDEX_NAME", table));
  std::string clauses;
  for (const Addition& addition : additions)
    if (std::ranges::find(known, addition.name) == known.end())
      clauses += ", ADD " + std::string(what) + " " + addition.name + " " + addition.definition;
  return clauses;
}

// One statement for all that is missing: a table is copied once.
mysql::Result<void> alter(Connection& connection, std::string_view table, const std::string& clauses) {
  if (clauses.empty()) return {};
  return connection.run("ALTER TABLE " + std::string(table) + clauses.substr(1));
}

mysql::Result<bool> has_all_states(Connection& connection) {
  TRY(const mysql::Rows rows,
      connection.query(
          "SELECT COUNT(*) FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = DATABASE()"
          " AND TABLE_NAME = 'emails' AND COLUMN_NAME = 'status' AND COLUMN_TYPE LIKE '%\\'CANCELLED\\'%'"));
  return rows[0].number(0) > 0;
}

mysql::Result<void> create_first_tables(Connection& connection) {
  for (const std::string_view table : first_tables) TRY_VOID(connection.run(table));
  return {};
}

mysql::Result<void> add_columns(Connection& connection) {
  std::string clauses;
  TRY(const bool all_states, has_all_states(connection));
  if (!all_states) clauses += ", MODIFY COLUMN status " + states + " NOT NULL";
  TRY(const std::string columns, missing(connection, "emails", "COLUMN", email_columns_added));
  TRY(const std::string indexes, missing(connection, "emails", "INDEX", email_indexes_added));
  TRY_VOID(alter(connection, "emails", clauses + columns + indexes));
  TRY(const std::string status_columns, missing(connection, "email_statuses", "COLUMN", status_columns_added));
  return alter(connection, "email_statuses", status_columns);
}

mysql::Result<void> create_further_tables(Connection& connection) {
  for (const std::string& table : further_tables) TRY_VOID(connection.run(table));
  return {};
}

mysql::Result<void> create_tables_of_keys(Connection& connection) {
  for (const std::string& table : tables_of_keys) TRY_VOID(connection.run(table));
  return {};
}

// A little at a time, so that others can work meanwhile, until there is nothing more.
mysql::Result<void> update_all(Connection& connection, const std::string& update) {
  constexpr int rows_at_once = 1'000;
  std::uint64_t changed = 0;
  do {
    TRY(changed, connection.execute(update + " LIMIT " + std::to_string(rows_at_once)));
  } while (changed > 0);
  return {};
}

// Rows that were there before Postino came, or that another program has moved since. Those that are finished count as
// expired, so that the sweep finds them: it knows how long they are kept, and counts them. What is due yet is found by
// workers. Those that another program was calling back for get a time, as they would have it today: they are taken over
// when that program must be gone.
mysql::Result<void> take_over_rows(Connection& connection) {
  const std::string is_foreign = "(ledger_version = 0 OR ledger_version <> version)";
  const std::string settled = "COALESCE(settled_ms, UNIX_TIMESTAMP(updated_at) * 1000)";
  TRY_VOID(
      update_all(connection, "UPDATE emails SET expires_ms = 0, settled_ms = IF(status = 'CANCELLED', settled_ms, " +
                                 settled + "), updated_at = updated_at WHERE expires_ms IS NULL AND " + is_foreign +
                                 " AND (status IN ('SENT-ACKNOWLEDGED', 'FAILED-ACKNOWLEDGED',"
                                 " 'INVALID-ACKNOWLEDGED', 'CANCELLED')"
                                 " OR (due_ms IS NULL AND status IN ('SENT', 'FAILED', 'INVALID')))"));
  return update_all(connection,
                    "UPDATE emails SET due_ms = FLOOR(UNIX_TIMESTAMP(CURRENT_TIMESTAMP(3)) * 1000), settled_ms = " +
                        settled + ", updated_at = updated_at WHERE due_ms IS NULL AND " + is_foreign +
                        " AND status IN ('CALLING-SENT-CALLBACK', 'CALLING-FAILED-CALLBACK',"
                        " 'CALLING-INVALID-CALLBACK')");
}

mysql::Result<void> add_subject(Connection& connection) {
  TRY(const std::string columns, missing(connection, "emails", "COLUMN", subject_added));
  return alter(connection, "emails", columns);
}

mysql::Result<void> add_time_of_requeue(Connection& connection) {
  TRY(const std::string columns, missing(connection, "emails", "COLUMN", time_of_requeue_added));
  return alter(connection, "emails", columns);
}

}  // namespace

const std::vector<Migration>& mysql_migrations() {
  static const std::vector<Migration> migrations = {
      {1, "tables of e-mails and their history", create_first_tables},
      {2, "leases, due times, callbacks, tenants", add_columns},
      {3, "counts, suppressions, keys, spool", create_further_tables},
      {4, "keys of all requests", create_tables_of_keys},
      {5, "e-mails that others had finished", take_over_rows},
      {6, "subjects of e-mails", add_subject},
      {7, "times of requeues and releases", add_time_of_requeue},
  };
  return migrations;
}

}  // namespace postino::outbox
