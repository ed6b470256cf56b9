#include <CLI/CLI.hpp>
#include <memory>
#include <numeric>

#include "app/cli/command_line.h"
#include "app/cli/commands.h"
#include "app/cli/setting_flags.h"
#include "app/console/progress_bar.h"
#include "app/console/table_text.h"
#include "app/console/terminal_text.h"
#include "app/server/mysql_storage.h"
#include "app/server/server_lock.h"
#include "app/store/engine_options.h"
#include "engine/engine.h"
#include "json/writer.h"
#include "outbox/ledger/ledger_copy.h"

namespace postino::app {

namespace {

struct CopyFlags {
  SettingFlags settings;
  std::string from;
  std::string to;
  bool json = false;
};

// Both ledgers, opened.
struct Ledgers {
  outbox::Policy policy;
  base::SystemClock clock;
  base::SystemRandom random;
  base::Pause pause;
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<OutboxStorage> source;
  std::unique_ptr<OutboxStorage> target;
  std::unique_ptr<ServerLock> lock;  // of the database: no server starts on it meanwhile
};

base::Result<std::unique_ptr<engine::Engine>> open_engine(const Settings& settings, bool must_be_there) {
  std::error_code error;
  if (must_be_there && !std::filesystem::is_directory(settings.data, error))
    return base::fail(base::ErrorCode::not_found,
                      "there is no store in '" + settings.data.string() + "'; give its directory with --data");
  engine::Options options = engine_options(settings);
  options.background = false;  // nothing expires while it is copied
  options.enforce_throughput = false;
  auto engine = engine::Engine::open(options);
  if (!engine && engine.error().code == base::ErrorCode::conflict)
    return base::fail(engine.error().code, engine.error().message + "; stop the postino serve that uses it first");
  return engine;
}

base::Result<std::unique_ptr<ServerLock>> lock_database(const mysql::ServerOptions& server) {
  auto lock = ServerLock::take(server, Sharing::alone);
  if (!lock && lock.error().code == base::ErrorCode::invalid)
    return base::fail(
        base::ErrorCode::conflict,
        "the database " + server.database + " is in use by a server; stop every postino serve that uses it first");
  return lock;
}

base::Result<std::unique_ptr<Ledgers>> open_ledgers(const Settings& settings, const CopyFlags& flags) {
  auto ledgers = std::make_unique<Ledgers>();
  ledgers->policy = outbox_policy(settings.outbox);
  const StorageContext context{ledgers->policy, ledgers->clock, std::nullopt, ledgers->random,  ledgers->pause,
                               settings.data,   nullptr,        nullptr,      &settings.objects};
  TRY(ledgers->engine, open_engine(settings, flags.from == "store"));
  for (const bool source : {true, false}) {
    auto& storage = source ? ledgers->source : ledgers->target;
    if ((source ? flags.from : flags.to) == "store") {
      TRY(storage, open_store_storage(*ledgers->engine, settings.outbox, context));
    } else {
      TRY(storage, open_mysql_storage(settings.outbox, context));
      TRY(ledgers->lock, lock_database(settings.outbox.mysql.server));
    }
  }
  return ledgers;
}

std::int64_t sum(const outbox::Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

std::string comparison_table(const outbox::Comparison& comparison, const CopyFlags& flags) {
  TableText table({{"STATUS"}, {flags.from, Align::right}, {flags.to, Align::right}, {""}});
  const auto add = [&](std::string_view name, std::int64_t source, std::int64_t target) {
    table.add({std::string(name), grouped(source), grouped(target), source == target ? "" : "differs"});
  };
  for (const outbox::State state : outbox::all_states()) {
    const auto place = static_cast<std::size_t>(state);
    if (comparison.source[place] != 0 || comparison.target[place] != 0)
      add(name_of(state), comparison.source[place], comparison.target[place]);
  }
  add("total", sum(comparison.source), sum(comparison.target));
  return table.take();
}

std::string copy_json(const outbox::CopyCounts& counts, const outbox::Comparison& comparison) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  writer.key("copied").integer(counts.copied);
  writer.key("present").integer(counts.present);
  writer.key("suppressions").integer(counts.suppressions);
  writer.key("failures").begin_array();
  for (const std::string& failure : counts.failures) writer.string(failure);
  writer.end_array();
  writer.key("states").begin_object();
  for (const outbox::State state : outbox::all_states()) {
    const auto place = static_cast<std::size_t>(state);
    writer.key(name_of(state)).begin_object();
    writer.key("source").integer(comparison.source[place]);
    writer.key("target").integer(comparison.target[place]);
    writer.end_object();
  }
  writer.end_object();
  writer.key("equal").boolean(comparison.equal());
  writer.end_object();
  return text;
}

void print(const outbox::CopyCounts& counts, const outbox::Comparison& comparison, const CopyFlags& flags,
           const Console& console) {
  for (const std::string& failure : counts.failures)
    console.errors << "postino: not copied: " << printable(failure) << "\n";
  if (flags.json) {
    console.out << copy_json(counts, comparison) << "\n";
    return;
  }
  console.out << counted(counts.copied, "e-mail") << " copied, " << grouped(counts.present) << " already there; "
              << counted(counts.suppressions, "suppression") << "\n"
              << comparison_table(comparison, flags);
  if (!comparison.equal())
    console.out << "The ledgers differ: e-mails were not copied, or changed during the copy. Stop all servers on both "
                   "ledgers and copy again.\n";
}

base::Result<int> copy(const Settings& settings, const CopyFlags& flags, const Console& console) {
  TRY(const auto ledgers, open_ledgers(settings, flags));
  outbox::LedgerCopy copy({ledgers->source->ledger(), ledgers->source->suppressions()},
                          {ledgers->target->ledger(), ledgers->target->suppressions()});
  TRY(const outbox::Counts expected, ledgers->source->ledger().counts(std::nullopt));
  const auto shown = [&](const std::string& label, const auto& work) {
    ProgressBar bar(console.errors, console.errors_columns, label, sum(expected));
    return work([&](std::int64_t done) { bar.show(done); });
  };
  TRY(const outbox::CopyCounts counts, shown("copying", [&](const auto& progress) { return copy.copy(progress); }));
  TRY(const outbox::Comparison comparison,
      shown("comparing", [&](const auto& progress) { return copy.compare(progress); }));
  print(counts, comparison, flags, console);
  return comparison.equal() && counts.failures.empty() ? success : failure;
}

int run_copy(const CopyFlags& flags, const Console& console) {
  const auto settings = embedded_settings_of(flags.settings);
  if (!settings) return report_setting_errors(console, settings.error());
  if (flags.from == flags.to)
    return report_error(console, {base::ErrorCode::invalid, "--from and --to must be different"}, misuse);
  base::configure_log(base::LogLevel::error, settings->log_format);
  const auto status = copy(*settings, flags, console);
  return status ? *status : report_error(console, status.error());
}

bool concerns_copying(const Setting& setting) {
  return setting.key == "data" || setting.key == "outbox.table" || setting.key == "outbox.spool" ||
         setting.key == "outbox.keep" || setting.key.starts_with("mysql.");
}

}  // namespace

void add_copy_command(CommandLine& line) {
  const auto flags = std::make_shared<CopyFlags>();
  CLI::App* const command = line.program().add_subcommand(
      "copy", "copy e-mails and their history from the embedded store to MySQL or MariaDB, or back");
  const CLI::IsMember ledgers({"store", "mysql"});
  command->add_option("--from", flags->from, "ledger to copy from: store or mysql")
      ->type_name("LEDGER")
      ->required()
      ->check(ledgers);
  command->add_option("--to", flags->to, "ledger to copy to: mysql or store")
      ->type_name("LEDGER")
      ->required()
      ->check(ledgers);
  command->add_flag("--json", flags->json, "print the result as JSON");
  add_setting_flags(*command, flags->settings, concerns_copying);
  line.add({command, [flags](const Console& console) { return run_copy(*flags, console); }, "", {}});
}

}  // namespace postino::app
