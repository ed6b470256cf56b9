#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

#include "app/cli/command_line.h"
#include "app/cli/commands.h"
#include "app/cli/service_counts.h"
#include "app/cli/service_objects.h"
#include "app/cli/setting_flags.h"
#include "app/console/table_text.h"
#include "app/console/terminal_text.h"
#include "app/store/engine_options.h"
#include "engine/engine.h"
#include "engine/store_check.h"
#include "engine/store_repair.h"
#include "idempotency/guard.h"
#include "json/writer.h"
#include "messages/queue_table.h"
#include "metrics/metrics_table.h"
#include "outbox/store_ledger/store_tables.h"

namespace postino::app {

namespace {

// The status of a repair that lost something.
constexpr int saved_in_part = 3;
// And of one whose new store is in its place, with something left to do.
constexpr int to_be_finished = 4;

struct OfflineFlags {
  SettingFlags settings;
  std::string keep_in;
  bool json = false;
};

base::Error with_advice(base::Error error) {
  if (error.code == base::ErrorCode::conflict) error.message += "; stop the postino serve that uses it first";
  return error;
}

void write_lines(json::Writer& writer, std::string_view name, const std::vector<std::string>& lines) {
  writer.key(name).begin_array();
  for (const std::string& line : lines) writer.string(line);
  writer.end_array();
}

void write_counts(json::Writer& writer, std::string_view name, const engine::StoreCounts& counts) {
  writer.key(name).begin_object();
  writer.key("tables").integer(static_cast<std::int64_t>(counts.tables));
  writer.key("items").integer(static_cast<std::int64_t>(counts.items));
  writer.key("index_entries").integer(static_cast<std::int64_t>(counts.index_entries));
  writer.key("expiry_entries").integer(static_cast<std::int64_t>(counts.expiry_entries));
  writer.key("stream_records").integer(static_cast<std::int64_t>(counts.stream_records));
  writer.key("undo_records").integer(static_cast<std::int64_t>(counts.undo_records));
  writer.key("backups").integer(static_cast<std::int64_t>(counts.backups));
  writer.key("backup_items").integer(static_cast<std::int64_t>(counts.backup_items));
  writer.end_object();
}

std::string counts_text(const engine::StoreCounts& counts) {
  return counted(static_cast<std::int64_t>(counts.tables), "table") + ", " +
         counted(static_cast<std::int64_t>(counts.items), "item") + ", " +
         grouped(static_cast<std::int64_t>(counts.index_entries)) + " index entries, " +
         grouped(static_cast<std::int64_t>(counts.expiry_entries)) + " expiry entries, " +
         counted(static_cast<std::int64_t>(counts.stream_records), "change record") + ", " +
         counted(static_cast<std::int64_t>(counts.undo_records), "undo record") +
         (counts.backups == 0 ? ""
                              : ", " + counted(static_cast<std::int64_t>(counts.backups), "backup") + " of " +
                                    counted(static_cast<std::int64_t>(counts.backup_items), "item"));
}

void print_lines(const std::vector<std::string>& lines, std::uint64_t count, const Console& console) {
  for (const std::string& line : lines) console.print_foreign(line + "\n");
  if (count > lines.size())
    console.out << "and " << grouped(static_cast<std::int64_t>(count - lines.size())) << " more\n";
}

void write_counted(json::Writer& writer, const ServiceTables& tables) {
  writer.key("counted").begin_object();
  write_lines(writer, "email_tables", tables.outboxes);
  write_lines(writer, "queue_tables", tables.queues);
  writer.end_object();
}

std::string check_json(const engine::StoreCheck& check, const ServiceTables& tables) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  writer.key("sound").boolean(check.sound());
  writer.key("problem_count").integer(static_cast<std::int64_t>(check.problems.count()));
  write_lines(writer, "problems", check.problems.lines());
  write_lines(writer, "notes", check.notes);
  writer.key("files").integer(static_cast<std::int64_t>(check.files));
  writer.key("bytes").integer(static_cast<std::int64_t>(check.bytes));
  writer.key("contents_checked").boolean(check.contents_checked);
  write_counts(writer, "counts", check.counts);
  write_counted(writer, tables);
  writer.end_object();
  return text;
}

void print(const engine::StoreCheck& check, const ServiceTables& tables, const Console& console) {
  print_lines(check.problems.lines(), check.problems.count(), console);
  for (const std::string& note : check.notes) console.print_foreign("note: " + note + "\n");
  for (const std::string& each : tables.described()) console.print_foreign("counted: " + each + "\n");
  console.out << counted(static_cast<std::int64_t>(check.files), "file") << " checked";
  if (check.contents_checked) console.out << "; " << counts_text(check.counts);
  console.out << ": ";
  if (check.sound())
    console.out << "sound\n";
  else
    console.out << counted(static_cast<std::int64_t>(check.problems.count()), "problem") << "\n";
  if (!check.sound() && !check.contents_checked)
    console.out << "The contents were not checked, because the files are damaged.\n";
}

std::string repair_json(const engine::StoreRepair& repair, const std::optional<ServiceTables>& recounted) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  writer.key("needed").boolean(repair.needed);
  write_lines(writer, "problems", repair.problems);
  write_lines(writer, "notes", repair.notes);
  writer.key("kept_in").string(repair.kept_in.string());
  writer.key("lost_count").integer(static_cast<std::int64_t>(repair.lost.count()));
  write_lines(writer, "lost", repair.lost.lines());
  write_counts(writer, "saved", repair.saved);
  writer.key("recounted").boolean(recounted.has_value());
  write_counted(writer, recounted.value_or(ServiceTables()));
  writer.key("unfinished").string(repair.unfinished);
  writer.end_object();
  return text;
}

void print(const engine::StoreRepair& repair, const std::optional<ServiceTables>& recounted, const Console& console) {
  for (const std::string& note : repair.notes) console.print_foreign("note: " + note + "\n");
  if (recounted) {
    for (const std::string& each : recounted->described()) console.print_foreign("counted again: " + each + "\n");
    if (recounted->described().empty()) console.out << "There are no e-mails and no messages to be counted again.\n";
  }
  if (!repair.needed) {
    console.out << (repair.recount_due ? "the store is sound\n" : "nothing to do: the store is sound\n");
    return;
  }
  for (const std::string& line : repair.lost.lines()) console.print_foreign("lost: " + line + "\n");
  if (repair.lost.count() > repair.lost.lines().size())
    console.out << "and " << grouped(static_cast<std::int64_t>(repair.lost.count() - repair.lost.lines().size()))
                << " more\n";
  console.out << "saved: " << counts_text(repair.saved) << "\n";
  if (!repair.kept_in.empty())
    console.out << "The damaged store is kept in " << printable(repair.kept_in.string()) << "\n";
}

int run_check(const OfflineFlags& flags, const Console& console) {
  const auto settings = embedded_settings_of(flags.settings);
  if (!settings) return report_setting_errors(console, settings.error());
  base::configure_log(base::LogLevel::error, settings->log_format);
  ServiceCounts counts(*settings);
  ServiceObjects objects(*settings);
  const auto each = [count = counts.reader(), compare = objects.reader()](const std::string& table,
                                                                          const item::Item& item) {
    count(table, item);
    compare(table, item);
  };
  auto check = engine::check_store(settings->data, base::SystemClock(), each);
  if (!check) return report_error(console, with_advice(check.error()));
  ServiceTables counted;
  // After a repair that has not counted again yet, they differ, and a note says why.
  if (check->contents_checked && !engine::is_recount_due(settings->data)) {
    for (std::string& line : counts.differences()) check->problems.add(std::move(line));
    counted = counts.tables();
  }
  if (check->contents_checked) {
    for (std::string& line : counts.unreadable()) check->notes.push_back(std::move(line));
    // The store itself is sound, and a repair of it brings none back.
    for (const std::string& line : objects.faults().lines()) check->notes.push_back(line);
    if (const auto more = objects.faults().count() - objects.faults().lines().size(); more > 0)
      check->notes.push_back(grouped(static_cast<std::int64_t>(more)) + " more objects are missing or damaged");
  }
  if (flags.json)
    console.out << check_json(*check, counted) << "\n";
  else
    print(*check, counted, console);
  return check->sound() ? success : failure;
}

// Those whose keys tell them from tables of others: PK and SK, which reminders and tickets have, are the keys of many.
std::vector<store::TableSetup> known_tables(const Settings& settings) {
  std::vector<store::TableSetup> known =
      outbox::table_setups({settings.outbox.table, !settings.outbox.no_status_index});
  known.push_back(messages::QueueTable::setup(settings.messages.queues));
  known.push_back(metrics::metrics_table_setup(settings.metrics.table));
  // One of them has the same key as the outbox's table of keys: with both gone, neither is guessed.
  for (store::TableSetup& setup : idempotency::table_setups(settings.idempotency.table))
    known.push_back(std::move(setup));
  return known;
}

base::Result<ServiceTables> count_anew(const Settings& settings, std::vector<std::string>& notes) {
  engine::Options options = engine_options(settings);
  options.background = false;
  options.enforce_throughput = false;
  ServiceTables counted;
  {
    TRY(const auto engine, engine::Engine::open(options));
    TRY(counted, count_anew(settings, *engine));
    // Those are counted beside the work of a server.
    TRY(const int sources, metrics::want_recount(*engine, settings.metrics.table, "the store was repaired"));
    if (sources > 0)
      notes.push_back("the figures of table " + settings.metrics.table +
                      " will be counted again by the next server that is started");
  }
  // Closing the store has written the counts out.
  TRY_VOID(engine::note_recounted(settings.data));
  return counted;
}

// Damage is not the only reason why counts may be wrong: other programs write to the tables as well.
base::Result<void> find_wrong_counts(const Settings& settings, engine::StoreRepair& repair) {
  ServiceCounts counts(settings);
  TRY(const engine::StoreCheck check, engine::check_store(settings.data, base::SystemClock(), counts.reader()));
  if (!check.contents_checked) return {};
  const std::vector<std::string> differences = counts.differences();
  if (differences.empty()) return {};
  repair.problems.insert(repair.problems.end(), differences.begin(), differences.end());
  repair.recount_due = true;
  return engine::note_recount_due(settings.data);
}

int run_repair(const OfflineFlags& flags, const Console& console) {
  const auto settings = embedded_settings_of(flags.settings);
  if (!settings) return report_setting_errors(console, settings.error());
  base::configure_log(base::LogLevel::error, settings->log_format);
  const auto keep_in = flags.keep_in.empty() ? std::nullopt : std::optional<std::filesystem::path>(flags.keep_in);
  auto repair = engine::repair_store(settings->data, keep_in, base::SystemClock(), known_tables(*settings));
  if (!repair) return report_error(console, with_advice(repair.error()));
  if (!repair->recount_due && repair->unfinished.empty())
    if (const auto looked = find_wrong_counts(*settings, *repair); !looked)
      repair->unfinished = "the counts of e-mails and messages could not be checked: " + looked.error().message;
  // Counts that services keep themselves would go on counting what is lost.
  const bool recounts = repair->recount_due && repair->unfinished.empty();
  std::optional<ServiceTables> recounted;
  if (recounts) {
    if (auto counted = count_anew(*settings, repair->notes); counted)
      recounted = *std::move(counted);
    else
      repair->unfinished = "e-mails and messages could not be counted again: " + counted.error().message;
  }
  // The counts are items, too: there may be others of them now.
  if (recounted)
    if (const auto now = engine::check_store(settings->data, base::SystemClock())) repair->saved = now->counts;
  if (flags.json)
    console.out << repair_json(*repair, recounted) << "\n";
  else
    print(*repair, recounted, console);
  if (!repair->unfinished.empty()) {
    report_error(console,
                 {base::ErrorCode::io, repair->unfinished +
                                           ". The repaired store is in its place. Run 'postino repair' again, when the "
                                           "cause is gone, to finish the repair"});
    return to_be_finished;
  }
  return repair->lost.empty() ? success : saved_in_part;
}

// Where the data is, what the tables in it are called, and for how long their counts count.
bool names_data(const Setting& setting) {
  constexpr std::string_view keys[] = {"data",           "outbox.table",  "outbox.keep",   "messages.queues",
                                       "messages.table", "metrics.table", "tickets.table", "objects.directory"};
  return std::ranges::find(keys, setting.key) != std::end(keys);
}

CLI::App* add_offline_command(CommandLine& line, const std::string& name, const std::string& help,
                              int (*run)(const OfflineFlags&, const Console&),
                              const std::shared_ptr<OfflineFlags>& flags) {
  CLI::App* const command = line.program().add_subcommand(name, help);
  command->add_flag("--json", flags->json, "print the result as JSON");
  add_setting_flags(*command, flags->settings, names_data);
  command->get_option("--data")->description(
      "directory of the data, which must exist (default: postino-data) [POSTINO_DATA]");
  line.add({command, [flags, run](const Console& console) { return run(*flags, console); }, "", {}});
  return command;
}

}  // namespace

void add_check_command(CommandLine& line) {
  add_offline_command(line, "check", "verify the data of a server that does not run: files, items, indexes and counts",
                      run_check, std::make_shared<OfflineFlags>());
}

void add_repair_command(CommandLine& line) {
  const auto flags = std::make_shared<OfflineFlags>();
  CLI::App* const command = add_offline_command(
      line, "repair", "save what can be saved of damaged data, and list what cannot", run_repair, flags);
  command->add_option("--to", flags->keep_in, "directory to keep the damaged store in: a new or an empty one")
      ->type_name("DIRECTORY");
}

}  // namespace postino::app
