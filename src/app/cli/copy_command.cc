#include <CLI/CLI.hpp>
#include <memory>

#include "app/cli/command_line.h"
#include "app/cli/commands.h"
#include "app/cli/setting_flags.h"
#include "app/console/terminal_text.h"
#include "app/copy/copy_report.h"
#include "app/copy/copy_side.h"
#include "app/copy/service_copy.h"
#include "base/log.h"

namespace postino::app {

namespace {

struct CopyFlags {
  SettingFlags settings;
  std::string from;
  std::string to;
  bool json = false;
};

struct Places {
  CopyPlace from;
  CopyPlace to;
  bool has(CopyPlace place) const { return from == place || to == place; }
};

base::Result<Places> places_of(const CopyFlags& flags) {
  const Places places{*copy_place(flags.from), *copy_place(flags.to)};  // the flags take no other names
  if (places.from == places.to) return base::invalid("--from and --to must be different");
  return places;
}

// The settings as both sides need them. `store` was the word before there was another store.
base::Result<Settings> copy_settings(const CopyFlags& flags, const Places& places) {
  TRY(Settings settings, settings_of(flags.settings));
  if (settings.store == StoreKind::dynamodb && (flags.from == "store" || flags.to == "store"))
    return base::invalid(
        "'store' is the embedded store, and the settings have --store dynamodb: say --from or --to embedded, or "
        "dynamodb");
  if (settings.outbox.off) return base::invalid("--no-outbox turns off all services: there is nothing to copy");
  Settings shared = settings;
  shared.store = StoreKind::dynamodb;
  if (places.has(CopyPlace::dynamodb)) TRY_VOID(places.has(CopyPlace::mysql) ? check(shared.remote) : check(shared));
  return settings;
}

base::Result<CopyOutcome> copy_between(const Settings& settings, const Places& places, const Console& console) {
  const auto note = [&console](const std::string& text) {
    console.errors << "postino: " << printable(text) << "\n" << std::flush;
  };
  CopyTools tools(settings);
  tools.tell = [&note](const std::string& cause) { note("waiting for the store: " + cause); };
  TRY(const std::unique_ptr<CopySide> source, CopySide::open(places.from, CopyRole::source, settings, tools));
  TRY_VOID(source->check_source(!places.has(CopyPlace::mysql) && settings.outbox.ledger == LedgerKind::mysql));
  TRY(const std::unique_ptr<CopySide> target, CopySide::open(places.to, CopyRole::target, settings, tools));
  for (CopySide* const side : {source.get(), target.get()}) {
    TRY(const auto server, side->sign_of_a_server());
    if (server) return base::fail(base::ErrorCode::conflict, *server);
    if (side->place() == CopyPlace::dynamodb)
      note("whether a server uses " + side->describe() + " is not always known: make sure that all are stopped");
  }
  return ServiceCopy(*source, *target, tools, console).run();
}

int run_copy(const CopyFlags& flags, const Console& console) {
  const auto places = places_of(flags);
  if (!places) return report_error(console, places.error(), misuse);
  const auto settings = copy_settings(flags, *places);
  if (!settings) return report_setting_errors(console, settings.error());
  base::configure_log(base::LogLevel::error, settings->log_format);
  const auto outcome = copy_between(*settings, *places, console);
  if (!outcome) return report_error(console, outcome.error());
  print_copy_troubles(*outcome, console);
  if (flags.json)
    console.out << copy_json(*outcome) << "\n";
  else
    print_copy(*outcome, {flags.from, flags.to}, console);
  return outcome->equal() ? success : failure;
}

bool concerns_copying(const Setting& setting) {
  return names_tables(setting) || setting.key == "outbox.keep" || setting.key.starts_with("mysql.");
}

}  // namespace

void add_copy_command(CommandLine& line) {
  const auto flags = std::make_shared<CopyFlags>();
  CLI::App* const command = line.program().add_subcommand(
      "copy", "copy what is kept between the embedded store, DynamoDB, and MySQL or MariaDB");
  const CLI::IsMember places({"embedded", "dynamodb", "mysql", "store"});
  command->add_option("--from", flags->from, "where to copy from: embedded (or store), dynamodb or mysql")
      ->type_name("PLACE")
      ->required()
      ->check(places);
  command->add_option("--to", flags->to, "where to copy to: embedded (or store), dynamodb or mysql")
      ->type_name("PLACE")
      ->required()
      ->check(places);
  command->add_flag("--json", flags->json, "print the result as JSON");
  add_setting_flags(*command, flags->settings, concerns_copying);
  line.add({command, [flags](const Console& console) { return run_copy(*flags, console); }, "", {}});
}

}  // namespace postino::app
