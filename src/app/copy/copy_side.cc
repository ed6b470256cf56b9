#include "app/copy/copy_side.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/console/terminal_text.h"
#include "app/server/mysql_storage.h"
#include "app/server/start_traces.h"
#include "app/store/engine_options.h"
#include "app/store/made_tables.h"
#include "app/store/service_tables.h"
#include "metrics/metrics_table.h"
#include "store/retry.h"
#include "store/table_setup.h"

namespace postino::app {

namespace {

// A server that follows changes says so every five seconds.
constexpr base::Milliseconds alive_for = std::chrono::minutes(1);

Settings settings_at(CopyPlace place, const Settings& given) {
  Settings settings = given;
  settings.store = place == CopyPlace::dynamodb ? StoreKind::dynamodb : StoreKind::embedded;
  settings.capacity.no_watch = true;
  return settings;
}

base::Result<std::unique_ptr<ServerLock>> lock_database(const mysql::ServerOptions& server) {
  auto lock = ServerLock::take(server, Sharing::alone);
  if (!lock && lock.error().code == base::ErrorCode::invalid)
    return base::fail(
        base::ErrorCode::conflict,
        "the database " + server.database + " is in use by a server; stop every postino serve that uses it first");
  return lock;
}

}  // namespace

std::optional<CopyPlace> copy_place(std::string_view name) {
  if (name == "embedded" || name == "store") return CopyPlace::embedded;
  if (name == "dynamodb") return CopyPlace::dynamodb;
  if (name == "mysql") return CopyPlace::mysql;
  return std::nullopt;
}

base::Result<std::unique_ptr<CopySide>> CopySide::open(CopyPlace place, CopyRole role, const Settings& settings,
                                                       CopyTools& tools) {
  std::unique_ptr<CopySide> side(new CopySide(place, role, settings_at(place, settings), tools));
  if (place == CopyPlace::embedded) TRY_VOID(side->open_embedded());
  if (place == CopyPlace::dynamodb) TRY_VOID(side->open_dynamodb());
  // What is wrong with a database is told before anything is copied.
  if (place == CopyPlace::mysql) {
    TRY(auto* const opened, side->outbox());
    static_cast<void>(opened);
  }
  return side;
}

base::Result<void> CopySide::open_embedded() {
  std::error_code error;
  if (role_ == CopyRole::source && !std::filesystem::is_directory(settings_.data, error))
    return base::fail(base::ErrorCode::not_found,
                      "there is no store in '" + settings_.data.string() + "'; give its directory with --data");
  const StartTraces traces(settings_.data, "");
  engine::Options options = engine_options(settings_);
  options.enforce_throughput = false;
  options.expiry_needs_guard = true;  // nothing expires while it is copied
  auto engine = engine::Engine::open(options);
  if (!engine && engine.error().code == base::ErrorCode::conflict)
    return base::fail(engine.error().code, engine.error().message + "; stop the postino serve that uses it first");
  if (!engine) return base::propagate(engine.error());
  engine_ = *std::move(engine);
  if (role_ == CopyRole::source && engine_->is_new()) {
    engine_.reset();
    traces.remove_new_store();
    return base::fail(base::ErrorCode::not_found,
                      "there is no store in '" + settings_.data.string() + "'; give its directory with --data");
  }
  engine_->guard_expiry([](const std::string&, const item::Item&) { return false; });
  store_ = engine_.get();
  return {};
}

base::Result<void> CopySide::open_dynamodb() {
  TRY(remote_, open_remote_store(settings_, tools_.clock, {}));
  tools_.keys = remote_->keys();
  transfer::Patience patience;
  patience.sleep = [&pause = tools_.pause](base::Milliseconds delay) { pause.wait(delay); };
  patience.tell = tools_.tell;
  patient_ =
      std::make_unique<transfer::PatientStore>(remote_->store(), std::move(patience), tools_.clock, tools_.random);
  store_ = patient_.get();
  // Before anything is written, where it is wrong: the address, the keys, the rights.
  const auto answer = store_->describe_table(settings_.outbox.table);
  if (!answer && answer.error().type != store::ErrorType::resource_not_found)
    return base::fail(store::as_error(answer.error()).code,
                      "the store at " + remote_->describe() + " cannot be used: " + answer.error().message);
  if (!answer && role_ == CopyRole::target) return begin_tables();
  return {};
}

// As a server does that starts first on such a store. Without the note, one that starts after a copy of e-mails alone
// would take the tables of all else for lost ones.
base::Result<void> CopySide::begin_tables() {
  const MadeTables made(*store_, settings_, tools_.retry());
  for (const store::TableSetup& setup : made.first())
    TRY_VOID(store::prepare_table(*store_, setup.request, setup.expiry));
  return made.note({});
}

base::Result<OutboxStorage*> CopySide::outbox() {
  if (outbox_) return outbox_.get();
  StorageContext context{tools_.policy, tools_.clock, std::nullopt, tools_.random, tools_.pause, settings_.data};
  context.objects = &settings_.objects;  // a spool may be in a bucket
  context.keys = tools_.keys;
  context.notes_spool = false;  // both sides may have one, with this data directory
  // What is only read, and may be on other machines, is not changed for that.
  context.makes_tables = role_ == CopyRole::target || place_ == CopyPlace::embedded;
  // In a bucket the names of a spool depend on where the e-mails are.
  OutboxSettings own = settings_.outbox;
  own.ledger = place_ == CopyPlace::mysql ? LedgerKind::mysql : LedgerKind::store;
  if (place_ == CopyPlace::mysql) {
    TRY(outbox_, open_mysql_storage(own, context));
    TRY(lock_, lock_database(settings_.outbox.mysql.server));
  } else {
    TRY(outbox_, open_store_storage(*store_, own, context));
  }
  return outbox_.get();
}

base::Result<void> CopySide::check_source(bool emails_elsewhere) {
  if (store_ == nullptr) return {};  // a database was looked at when it was opened
  std::vector<std::string> tables;
  if (emails_elsewhere)
    for (const store::TableSetup& setup : service_tables(settings_)) tables.push_back(setup.request.table_name);
  else
    tables.push_back(settings_.outbox.table);
  const auto retry = tools_.retry();
  for (const std::string& table : tables) {
    const auto found = retry([&] { return store_->describe_table(table); });
    if (found) return {};
    if (found.error().type != store::ErrorType::resource_not_found)
      return base::fail(store::as_error(found.error()).code, describe() + ": " + found.error().message);
  }
  return base::fail(base::ErrorCode::not_found,
                    describe() + " has nothing to copy: there is no table " + tables.front() + ". Is it the right " +
                        (place_ == CopyPlace::embedded ? "directory (--data)" : "endpoint, region and account") +
                        ", and the right name (--outbox-table)?");
}

std::string CopySide::describe() const {
  if (place_ == CopyPlace::embedded) return "the store in '" + settings_.data.string() + "'";
  if (place_ == CopyPlace::dynamodb) return "the store at " + remote_->describe();
  return outbox_ ? outbox_->describe() : "the database";
}

base::Result<std::optional<std::string>> CopySide::sign_of_a_server() {
  if (place_ != CopyPlace::dynamodb) return std::nullopt;
  TRY(const auto last, metrics::last_sign_of_a_follower(*store_, settings_.metrics.table));
  if (!last) return std::nullopt;
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(remote_->clock()->now() - *last);
  if (age >= alive_for) return std::nullopt;
  return describe() + " is in use by a server, which wrote to table " + settings_.metrics.table + " " +
         counted(std::max<std::int64_t>(age.count(), 0), "second") +
         " ago; stop every postino serve that uses it first. If one was killed, wait for a minute";
}

}  // namespace postino::app
