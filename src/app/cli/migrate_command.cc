#include <CLI/CLI.hpp>
#include <memory>

#include "app/cli/command_line.h"
#include "app/cli/commands.h"
#include "app/cli/setting_flags.h"
#include "app/console/table_text.h"
#include "app/console/terminal_text.h"
#include "app/server/version.h"
#include "json/writer.h"
#include "outbox/mysql_ledger/mysql_migration.h"
#include "outbox/mysql_ledger/mysql_schema.h"

namespace postino::app {

namespace {

struct MigrateFlags {
  SettingFlags settings;
  bool dry_run = false;
  bool take_over_callbacks = false;
  bool json = false;
};

using outbox::DoneMigration;

base::Result<std::vector<DoneMigration>> find_pending(const mysql::ServerOptions& server) {
  TRY(const int count, outbox::pending_migrations(server));
  std::vector<DoneMigration> pending;
  const auto& all = outbox::mysql_migrations();
  for (auto migration = all.end() - count; migration != all.end(); ++migration)
    pending.push_back({migration->number, std::string(migration->name)});
  return pending;
}

std::string migrations_json(const mysql::ServerOptions& server, const std::vector<DoneMigration>& migrations,
                            bool dry_run, std::uint64_t callbacks) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  writer.key("server").string(mysql::address_of(server));
  writer.key("database").string(server.database);
  writer.key(dry_run ? "pending" : "done").begin_array();
  for (const DoneMigration& migration : migrations) {
    writer.begin_object();
    writer.key("number").integer(migration.number);
    writer.key("name").string(migration.name);
    writer.end_object();
  }
  writer.end_array();
  if (!dry_run) writer.key("callbacks_taken_over").integer(static_cast<std::int64_t>(callbacks));
  writer.end_object();
  return text;
}

void print(const mysql::ServerOptions& server, const std::vector<DoneMigration>& migrations, std::uint64_t callbacks,
           const MigrateFlags& flags, const Console& console) {
  if (flags.json) {
    console.out << migrations_json(server, migrations, flags.dry_run, callbacks) << "\n";
    return;
  }
  const std::string place = "database " + printable(server.database) + " at " + printable(mysql::address_of(server));
  if (flags.take_over_callbacks && !flags.dry_run)
    console.out << counted(static_cast<std::int64_t>(callbacks), "callback") << " taken over\n";
  if (migrations.empty()) {
    console.out << "nothing to do: " << place << " is up to date\n";
    return;
  }
  TableText table({{"NUMBER", Align::right}, {"MIGRATION"}, {""}});
  for (const DoneMigration& migration : migrations)
    table.add({std::to_string(migration.number), migration.name, flags.dry_run ? "pending" : "done"});
  console.out << table.take() << counted(static_cast<std::int64_t>(migrations.size()), "migration")
              << (flags.dry_run ? " pending in " : " done in ") << place << "\n";
}

base::Result<void> migrate(const MysqlSettings& settings, const MigrateFlags& flags, const Console& console) {
  std::vector<DoneMigration> migrations;
  std::uint64_t callbacks = 0;
  if (flags.dry_run) {
    TRY(migrations, find_pending(settings.server));
  } else {
    outbox::MigrationOptions options;
    options.program_version = std::string(program_version());
    TRY(migrations, outbox::migrate(settings.server, options));
    if (flags.take_over_callbacks) {
      TRY(callbacks, outbox::take_over_callbacks(settings.server, options.wait));
    }
  }
  print(settings.server, migrations, callbacks, flags, console);
  return {};
}

int run_migration(const MigrateFlags& flags, const Console& console) {
  const auto settings = settings_of(flags.settings);
  if (!settings) return report_setting_errors(console, settings.error());
  if (const auto checked = check(settings->outbox.mysql); !checked)
    return report_error(console, checked.error(), misuse);
  const auto done = migrate(settings->outbox.mysql, flags, console);
  return done ? success : report_error(console, done.error());
}

}  // namespace

void add_migrate_command(CommandLine& line) {
  const auto flags = std::make_shared<MigrateFlags>();
  CLI::App* const command = line.program().add_subcommand(
      "migrate", "update the outbox's tables in MySQL or MariaDB to this version of Postino");
  command->add_flag("--dry-run", flags->dry_run, "print the pending migrations and do nothing");
  command->add_flag("--take-over-callbacks", flags->take_over_callbacks,
                    "also call back for e-mails that another program had finished, and had not called back for");
  command->add_flag("--json", flags->json, "print the result as JSON");
  add_setting_flags(*command, flags->settings, [](const Setting& setting) {
    return setting.key.starts_with("mysql.") && setting.key != "mysql.migrate" && setting.key != "mysql.pool";
  });
  line.add({command, [flags](const Console& console) { return run_migration(*flags, console); }, "", {}});
}

}  // namespace postino::app
