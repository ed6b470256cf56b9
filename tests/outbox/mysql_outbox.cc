#include "mysql_outbox.h"

#include <thread>

#include "base/check.h"
#include "outbox/mysql_ledger/mysql_migration.h"

namespace postino::outbox {

const std::string emails_table = R"(CREATE TABLE IF NOT EXISTS emails (
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
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;)";
const std::string statuses_table = R"(CREATE TABLE IF NOT EXISTS email_statuses (
    id BIGINT AUTO_INCREMENT PRIMARY KEY,
    email_id CHAR(36) NOT NULL,
    status VARCHAR(50) NOT NULL,
    reason TEXT,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,

    INDEX idx_email_id (email_id),
    FOREIGN KEY (email_id) REFERENCES emails(id) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;)";

MysqlProcess::MysqlProcess(const mysql::ServerOptions& server, const std::filesystem::path& spool,
                           const base::Clock& clock, std::uint64_t seed, const Policy& policy, std::size_t connections,
                           mysql::Database::Sleep sleep)
    : random_(seed), database_(server, {.size = connections}, random_, std::move(sleep)) {
  std::unique_ptr<Spool> elsewhere;
  if (!spool.empty()) {
    auto opened = DirectorySpool::open(spool, random_);
    CHECK(opened.has_value());
    elsewhere = *std::move(opened);
  }
  MysqlLedgerOptions options;
  options.memory = &memory_;
  ledger_ = std::make_unique<MysqlLedger>(database_, policy, clock, random_, options, std::move(elsewhere));
}

MysqlOutbox::MysqlOutbox(SpoolChoice spool, std::shared_ptr<base::Clock> clock, mysql::MariadbServer& server)
    : spool_(spool), clock_(std::move(clock)), server_(server.new_database()) {
  const auto migrated = migrate(server_, {.program_version = "test"});
  if (!migrated) ADD_FAILURE() << migrated.error().message;
  CHECK(migrated.has_value());
}

std::unique_ptr<MysqlProcess> MysqlOutbox::make_process(const Policy& policy, std::size_t connections) {
  return std::make_unique<MysqlProcess>(server_, spool_ == SpoolChoice::directory ? spool_directory() : "", *clock_,
                                        next_seed_++, policy, connections,
                                        [](base::Milliseconds) { std::this_thread::yield(); });
}

std::unique_ptr<MysqlProcess> MysqlOutbox::make_process_at(const mysql::ServerOptions& server,
                                                           mysql::Database::Sleep sleep) {
  return std::make_unique<MysqlProcess>(server, spool_ == SpoolChoice::directory ? spool_directory() : "", *clock_,
                                        next_seed_++, ledger_policy(), 40, std::move(sleep));
}

mysql::Rows MysqlOutbox::query(const std::string& sql, std::initializer_list<mysql::Parameter> parameters) {
  if (connection_ == nullptr) connection_ = *mysql::Connection::open(server_);
  auto rows = connection_->query(sql, parameters);
  if (!rows) ADD_FAILURE() << sql << ": " << rows.error().message;
  CHECK(rows.has_value());
  return *std::move(rows);
}

std::int64_t MysqlOutbox::number(const std::string& sql, std::initializer_list<mysql::Parameter> parameters) {
  const mysql::Rows rows = query(sql, parameters);
  CHECK(rows.size() == 1);
  return rows[0].number(0);
}

std::uint64_t MysqlOutbox::execute(const std::string& sql, std::initializer_list<mysql::Parameter> parameters) {
  if (connection_ == nullptr) connection_ = *mysql::Connection::open(server_);
  const auto changed = connection_->execute(sql, parameters);
  if (!changed) ADD_FAILURE() << sql << ": " << changed.error().message;
  CHECK(changed.has_value());
  return *changed;
}

}  // namespace postino::outbox
