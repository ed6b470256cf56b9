// The outbox's tables in a MariaDB database of a test's own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/temporary_directory.h"
#include "mariadb_server.h"
#include "mysql/database.h"
#include "outbox/ledger/directory_spool.h"
#include "outbox/ledger/message_memory.h"
#include "outbox/mysql_ledger/mysql_ledger.h"
#include "outbox/mysql_ledger/mysql_suppressions.h"
#include "outbox_store.h"

namespace postino::outbox {

// The tables of another program, as its documentation has them.
extern const std::string emails_table;
extern const std::string statuses_table;

// What a process has of its own: connections, spool, ledger.
class MysqlProcess {
 public:
  // A directory for the spool; in the database when it is empty. `sleep` is called between attempts.
  MysqlProcess(const mysql::ServerOptions& server, const std::filesystem::path& spool, const base::Clock& clock,
               std::uint64_t seed, const Policy& policy, std::size_t connections, mysql::Database::Sleep sleep);

  MysqlLedger& ledger() { return *ledger_; }
  Spool& spool() { return ledger_->spool(); }
  SuppressionList& suppressions() { return suppressions_; }
  mysql::Database& database() { return database_; }
  // For payloads of other programs: eight megabytes.
  MessageMemory& memory() { return memory_; }

 private:
  MessageMemory memory_{std::make_shared<base::MemoryBudget>(8 << 20)};
  base::SeededRandom random_;
  mysql::Database database_;
  MysqlSuppressions suppressions_{database_};
  std::unique_ptr<MysqlLedger> ledger_;
};

// A database with the tables, and as many processes as a test asks for.
class MysqlOutbox {
 public:
  MysqlOutbox(SpoolChoice spool, std::shared_ptr<base::Clock> clock,
              mysql::MariadbServer& server = mysql::MariadbServer::shared());

  const mysql::ServerOptions& server() const { return server_; }
  std::filesystem::path spool_directory() const { return directory_.path() / "spool"; }
  // The policy must outlive it.
  std::unique_ptr<MysqlProcess> make_process(const Policy& policy = ledger_policy(), std::size_t connections = 16);
  // The same, through another way to the server, and with something to do instead of sleeping.
  std::unique_ptr<MysqlProcess> make_process_at(const mysql::ServerOptions& server, mysql::Database::Sleep sleep);

  // As any other program: a statement, and the rows it answers. The test ends when it fails.
  mysql::Rows query(const std::string& sql, std::initializer_list<mysql::Parameter> parameters = {});
  std::int64_t number(const std::string& sql, std::initializer_list<mysql::Parameter> parameters = {});
  std::uint64_t execute(const std::string& sql, std::initializer_list<mysql::Parameter> parameters = {});
  // A counter of the server.
  std::int64_t status(const std::string& name) {
    return number("SELECT VARIABLE_VALUE FROM INFORMATION_SCHEMA.GLOBAL_STATUS WHERE VARIABLE_NAME = ?", {name});
  }

 private:
  const SpoolChoice spool_;
  const std::shared_ptr<base::Clock> clock_;
  const mysql::ServerOptions server_;
  const base::TemporaryDirectory directory_;
  std::unique_ptr<mysql::Connection> connection_;
  std::uint64_t next_seed_ = 1;
};

// Another program that holds a row in a transaction of its own.
class LockedRow {
 public:
  LockedRow(const mysql::ServerOptions& server, const std::string& id) : connection_(*mysql::Connection::open(server)) {
    EXPECT_TRUE(connection_->begin());
    EXPECT_TRUE(connection_->query("SELECT id FROM emails WHERE id = ? FOR UPDATE", {id}));
  }
  // A connection that is closed keeps the lock until the server has noticed.
  ~LockedRow() { EXPECT_TRUE(connection_->rollback()); }
  LockedRow(const LockedRow&) = delete;
  LockedRow& operator=(const LockedRow&) = delete;

 private:
  const std::unique_ptr<mysql::Connection> connection_;
};

}  // namespace postino::outbox
