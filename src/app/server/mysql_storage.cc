#include "app/server/mysql_storage.h"

#include <algorithm>

#include "app/console/terminal_text.h"
#include "app/server/database_health.h"
#include "app/server/version.h"
#include "base/log.h"
#include "base/metrics_text.h"
#include "mysql/connection.h"
#include "mysql/database.h"
#include "outbox/parts.h"

namespace postino::app {

namespace {

using std::chrono::steady_clock;

constexpr auto sweep_interval = std::chrono::minutes(1);
constexpr auto longest_sweep = std::chrono::milliseconds(250);  // others wait for the thread that does it
constexpr int sweep_batch = 100;

base::Result<bool> is_empty(const mysql::ServerOptions& server) {
  const auto connection = mysql::Connection::open(server);
  if (!connection) return base::propagate(mysql::as_error(connection.error()));
  const auto rows =
      (*connection)->query("SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = DATABASE()");
  if (!rows) return base::propagate(mysql::as_error(rows.error()));
  return (*rows)[0].number(0) == 0;
}

base::Result<void> prepare(const MysqlSettings& settings) {
  TRY(int pending, outbox::pending_migrations(settings.server));
  if (pending == 0) return {};
  outbox::MigrationOptions options;
  TRY(const bool empty, is_empty(settings.server));
  if (!settings.migrate && !empty) {
    // Another server that is started at the same time may be about to make them.
    TRY(pending, outbox::pending_after_others(settings.server, options.wait));
    if (pending == 0) return {};
    return base::invalid("database " + settings.server.database + " lacks " + counted(pending, "migration") +
                         " of this version of Postino: run postino migrate, or start with --mysql-migrate");
  }
  options.program_version = std::string(program_version());
  TRY(const auto done, outbox::migrate(settings.server, options));
  for (const outbox::DoneMigration& migration : done)
    base::log_info("outbox", "migrated", {{"number", std::to_string(migration.number)}, {"name", migration.name}});
  return {};
}

class MysqlStorage final : public OutboxStorage {
 public:
  MysqlStorage(const MysqlSettings& settings, const StorageContext& context)
      : server_(settings.server),
        database_(settings.server, settings.pool, context.random,
                  [&pause = context.pause](base::Milliseconds delay) { pause.wait(delay); }),
        health_(settings.server) {}

  base::Result<void> open(const OutboxSettings& settings, const StorageContext& context) {
    TRY(auto directory, open_directory(settings, context.random));
    ledger_ = std::make_unique<outbox::MysqlLedger>(database_, context.policy, context.clock, context.random,
                                                    outbox::MysqlLedgerOptions(), std::move(directory));
    return {};
  }

  outbox::Ledger& ledger() override { return *ledger_; }
  outbox::SuppressionList& suppressions() override { return suppressions_; }

  void tick(base::TimePoint now) override {
    OutboxStorage::tick(now);
    const auto began = steady_clock::now();
    if (began < next_sweep_ || problem()) return;
    while (steady_clock::now() - began < longest_sweep) {
      const auto removed = ledger_->sweep(sweep_batch);
      if (!removed)
        base::log_warning("outbox", "expired rows could not be removed from the database",
                          {{"error", removed.error().message}});
      if (removed && *removed > 0) continue;
      next_sweep_ = began + sweep_interval;
      return;
    }
  }

  void give_up_at(steady_clock::time_point when) override { database_.give_up_at(when); }

  std::optional<std::string> problem() const override { return health_.problem(); }

  void append_metrics(std::string& out) const override {
    base::append_metric(out, "postino_mysql_up", "gauge", "1 if the database of the outbox answers, 0 otherwise.",
                        problem() ? "0" : "1");
    database_.statistics().append_to(out);
  }

  std::string describe() const override { return "database " + server_.database + " at " + mysql::address_of(server_); }

 private:
  const mysql::ServerOptions server_;
  mysql::Database database_;
  DatabaseHealth health_;
  outbox::MysqlSuppressions suppressions_{database_};
  std::unique_ptr<outbox::MysqlLedger> ledger_;
  steady_clock::time_point next_sweep_;
};

}  // namespace

base::Result<std::unique_ptr<OutboxStorage>> open_mysql_storage(const OutboxSettings& settings,
                                                                const StorageContext& context) {
  TRY_VOID(check(settings.mysql));
  MysqlSettings mysql = settings.mysql;
  // An error that names the lock is better than one that names the time.
  mysql.server.lock_timeout = std::min(mysql.server.lock_timeout, mysql.server.statement_timeout / 2);
  TRY_VOID(prepare(mysql));
  auto storage = std::make_unique<MysqlStorage>(mysql, context);
  TRY_VOID(storage->open(settings, context));
  return std::unique_ptr<OutboxStorage>(std::move(storage));
}

}  // namespace postino::app
