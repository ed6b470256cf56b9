#include "app/server/mysql_storage.h"

#include <algorithm>

#include "app/console/terminal_text.h"
#include "app/server/database_health.h"
#include "app/server/mysql_recount.h"
#include "app/server/version.h"
#include "base/log.h"
#include "base/metrics_text.h"
#include "base/plausible_clock.h"
#include "mysql/connection.h"
#include "mysql/database.h"
#include "mysql/database_clock.h"
#include "mysql/open_sockets.h"
#include "outbox/mysql_ledger/mysql_ledger.h"
#include "outbox/mysql_ledger/mysql_migration.h"
#include "outbox/mysql_ledger/mysql_records.h"
#include "outbox/mysql_ledger/mysql_suppressions.h"

namespace postino::app {

namespace {

using std::chrono::steady_clock;

constexpr auto sweep_interval = std::chrono::minutes(1);
constexpr auto longest_sweep = std::chrono::milliseconds(250);  // others wait for the thread that does it
constexpr int sweep_batch = 100;
constexpr base::Milliseconds largest_skew = std::chrono::hours(24);

base::Result<bool> is_empty(const mysql::ServerOptions& server) {
  const auto connection = mysql::Connection::open(server);
  if (!connection) return base::propagate(mysql::as_error(connection.error()));
  const auto rows =
      (*connection)->query("SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = DATABASE()");
  if (!rows) return base::propagate(mysql::as_error(rows.error()));
  return (*rows)[0].number(0) == 0;
}

base::Result<void> prepare(const MysqlSettings& settings, bool makes_tables = true) {
  TRY(int pending, outbox::pending_migrations(settings.server));
  if (pending == 0) return {};
  outbox::MigrationOptions options;
  TRY(const bool empty, is_empty(settings.server));
  if (empty && !makes_tables)
    return base::fail(base::ErrorCode::not_found, "database " + settings.server.database + " at " +
                                                      mysql::address_of(settings.server) +
                                                      " has no tables: is it the right one (--mysql-database)?");
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
      : OutboxStorage(context.policy),
        server_(settings.server),
        database_(settings.server, settings.pool, context.random,
                  [&pause = context.pause](base::Milliseconds delay) { pause.wait(delay); }),
        database_clock_(context.clock) {}
  ~MysqlStorage() override { end_upkeep(); }

  base::Result<void> open(const OutboxSettings& settings, const StorageContext& context) {
    TRY_VOID(read_clock());
    clock_ = std::make_unique<base::PlausibleClock>(database_clock_, "the database's clock");
    health_ = std::make_unique<DatabaseHealth>(server_, database_clock_);
    TRY(auto spool, open_spool(settings, context));
    outbox::MysqlLedgerOptions options;
    options.memory = context.memory;
    ledger_ = std::make_unique<outbox::MysqlLedger>(database_, context.policy, *clock_, context.random, options,
                                                    std::move(spool));
    TRY_VOID(agree_on_spool(settings, context));
    TRY(const auto last_seen, ledger_->last_seen());
    if (last_seen) clock_->note_past(*last_seen);
    watch(*clock_, last_seen, true);
    return {};
  }

  outbox::Ledger& ledger() override { return *ledger_; }
  const base::Clock& clock() const override { return *clock_; }
  outbox::SuppressionList& suppressions() override { return suppressions_; }

  // With two clocks that are days apart it is not known which is right.
  bool may_sweep() const override { return !problem() && std::chrono::abs(database_clock_.skew()) <= largest_skew; }

  // If it fails, the next time will do.
  void note_time(base::TimePoint now) override {
    if (const auto noted = ledger_->note_last_seen(now); !noted)
      base::log_warning("outbox", "the time could not be noted in the database", {{"error", noted.error().message}});
  }

  void sweep_ledger() override {
    recount_.run_if_due();
    const auto began = steady_clock::now();
    if (began < next_sweep_) return;
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

  std::optional<std::string> problem() const override { return health_->problem(); }

  void append_metrics(std::string& out) const override {
    base::append_metric(out, "postino_mysql_up", "gauge",
                        "1 if the database of the outbox answers and takes writes, 0 otherwise.",
                        problem() ? "0" : "1");
    base::append_metric(out, "postino_mysql_clock_skew_seconds", "gauge",
                        "How far the clock of this machine is ahead of the database's.",
                        std::to_string(static_cast<double>(database_clock_.skew().count()) / 1'000));
    clock_->append_metrics(out, "postino_mysql_clock");
    database_.statistics().append_to(out);
    OutboxStorage::append_metrics(out);
  }

  std::string describe() const override { return "database " + server_.database + " at " + mysql::address_of(server_); }

 private:
  base::Result<void> read_clock() {
    const auto connection = mysql::Connection::open(server_);
    if (!connection) return base::propagate(mysql::as_error(connection.error()));
    if (const auto read = database_clock_.measure(**connection); !read)
      return base::propagate(mysql::as_error(read.error()));
    return {};
  }

  const mysql::ServerOptions server_;
  mysql::Database database_;
  mysql::DatabaseClock database_clock_;
  std::unique_ptr<base::PlausibleClock> clock_;
  std::unique_ptr<DatabaseHealth> health_;
  outbox::MysqlSuppressions suppressions_{database_};
  std::unique_ptr<outbox::MysqlLedger> ledger_;
  steady_clock::time_point next_sweep_;
  MysqlRecount recount_{server_};
};

// An error that names the lock is better than one that names the time.
MysqlSettings with_short_locks(MysqlSettings settings) {
  settings.server.lock_timeout = std::min(settings.server.lock_timeout, settings.server.statement_timeout / 2);
  return settings;
}

class MysqlKeys final : public SharedKeys {
 public:
  MysqlKeys(MysqlSettings settings, const base::Clock& own)
      : server_(with_sockets(std::move(settings.server), sockets_)),
        database_(server_, settings.pool, random_, [this](base::Milliseconds delay) { pause_.wait(delay); }),
        database_clock_(own) {}

  base::Result<void> open() {
    const auto connection = mysql::Connection::open(server_);
    if (!connection) return base::propagate(mysql::as_error(connection.error()));
    if (const auto read = database_clock_.measure(**connection); !read)
      return base::propagate(mysql::as_error(read.error()));
    clock_ = std::make_unique<base::PlausibleClock>(database_clock_, "the database's clock");
    measuring_ = std::make_unique<DatabaseHealth>(server_, database_clock_, true);
    return {};
  }

  idempotency::Records& records() override { return records_; }
  const base::Clock& clock() const override { return *clock_; }
  void give_up_at(steady_clock::time_point when) override { database_.give_up_at(when); }
  void break_off() override { sockets_->break_off(); }

 private:
  static mysql::ServerOptions with_sockets(mysql::ServerOptions server, std::shared_ptr<mysql::OpenSockets> sockets) {
    server.sockets = std::move(sockets);
    return server;
  }

  const std::shared_ptr<mysql::OpenSockets> sockets_ = std::make_shared<mysql::OpenSockets>();
  const mysql::ServerOptions server_;
  base::SystemRandom random_;
  base::Pause pause_;
  mysql::Database database_;
  mysql::DatabaseClock database_clock_;
  std::unique_ptr<base::PlausibleClock> clock_;
  std::unique_ptr<DatabaseHealth> measuring_;
  outbox::MysqlRecords records_{database_};
};

}  // namespace

base::Result<std::shared_ptr<SharedKeys>> open_shared_keys(const OutboxSettings& settings, const base::Clock& clock) {
  TRY_VOID(check(settings.mysql));
  const MysqlSettings mysql = with_short_locks(settings.mysql);
  TRY_VOID(prepare(mysql));
  auto keys = std::make_shared<MysqlKeys>(mysql, clock);
  TRY_VOID(keys->open());
  return std::shared_ptr<SharedKeys>(std::move(keys));
}

idempotency::GuardOptions with_shared_keys(idempotency::GuardOptions options, const std::shared_ptr<SharedKeys>& keys) {
  options.shared_records = std::shared_ptr<idempotency::Records>(keys, &keys->records());
  options.shared_clock = std::shared_ptr<const base::Clock>(keys, &keys->clock());
  return options;
}

base::Result<std::unique_ptr<OutboxStorage>> open_mysql_storage(const OutboxSettings& settings,
                                                                const StorageContext& context) {
  TRY_VOID(check(settings.mysql));
  const MysqlSettings mysql = with_short_locks(settings.mysql);
  TRY_VOID(prepare(mysql, context.makes_tables));
  auto storage = std::make_unique<MysqlStorage>(mysql, context);
  TRY_VOID(storage->open(settings, context));
  return std::unique_ptr<OutboxStorage>(std::move(storage));
}

}  // namespace postino::app
