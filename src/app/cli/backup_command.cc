#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "app/backups/backup_files.h"
#include "app/backups/backup_place.h"
#include "app/cli/client_command.h"
#include "app/cli/commands.h"
#include "app/cli/help_format.h"
#include "app/cli/setting_flags.h"
#include "app/client/answer.h"
#include "app/console/table_text.h"
#include "app/console/terminal_text.h"
#include "backup/file_restore.h"
#include "backup/key_ring.h"
#include "backup/place_lock.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "engine/store_restore.h"
#include "json/writer.h"

namespace postino::app {

namespace {

constexpr std::string_view begin_operation = "beginBackup";
constexpr std::string_view state_operation = "showBackupState";
constexpr base::Milliseconds poll_pause{200};

struct BackupFlags {
  SettingFlags settings;
  std::string id;
  std::string at;
  std::string new_key;
  bool json = false;
};

bool concerns_the_place(const Setting& setting) {
  return setting.key == "backup.to" || setting.key == "backup.key" ||
         (setting.key.starts_with("objects.") && setting.key != "objects.directory" && setting.key != "objects.bucket");
}

// The place and the key, for a command that works without a server.
struct OpenedPlace {
  const base::SystemClock clock;
  base::SystemRandom random;
  base::Pause pause;
  Settings settings;
  BackupPlace opened;
  std::optional<backup::MasterKey> key;

  base::Result<void> open(const BackupFlags& flags, bool only_reads) {
    TRY(settings, settings_of(flags.settings));
    base::configure_log(base::LogLevel::error, settings.log_format);
    TRY(key, read_master_key(settings.backups.key));
    TRY(opened, open_backup_place(settings, clock, random, pause, only_reads));
    return {};
  }
  backup::Place& place() { return *opened.place; }
};

// The newest that was taken by then, if a time is given.
base::Result<std::string> wanted_backup(OpenedPlace& place, const BackupFlags& flags, const Console& console) {
  if (!flags.id.empty()) return flags.id;
  std::optional<base::TimePoint> at;
  if (!flags.at.empty()) {
    TRY(at, base::parse_timestamp(flags.at));
  }
  TRY(const std::vector<backup::ListedBackup> listed, backup::list_backups(place.place(), place.key));
  const backup::ListedBackup* found = nullptr;
  for (const backup::ListedBackup& each : listed) {
    if (!each.manifest) console.errors << "note: " << printable(each.problem) << "\n";
    if (each.manifest && (!at || each.manifest->taken <= *at)) found = &each;
  }
  if (found != nullptr) return found->id;
  return base::fail(base::ErrorCode::not_found, at ? "no backup that can be read is of that time or before"
                                                   : "there is no backup that can be read");
}

std::string state_of(const backup::ListedBackup& listed) {
  if (!listed.manifest) return listed.problem;
  if (!listed.verdict) return "not verified";
  return listed.verdict->sound ? "sound" : listed.verdict->problem;
}

void write_listed(json::Writer& json, const backup::ListedBackup& listed) {
  json.begin_object();
  json.key("id").string(listed.id);
  if (listed.manifest) {
    json.key("taken_at").string(base::format_timestamp(listed.manifest->taken));
    json.key("files").integer(static_cast<std::int64_t>(listed.manifest->files));
    json.key("bytes").integer(static_cast<std::int64_t>(listed.manifest->bytes));
    json.key("new_bytes").integer(static_cast<std::int64_t>(listed.manifest->new_bytes));
  }
  json.key("sealed").boolean(listed.sealed);
  json.key("sound").boolean(listed.verdict && listed.verdict->sound);
  json.key("problem").string(listed.verdict ? listed.verdict->problem : listed.problem);
  json.end_object();
}

int run_list(const BackupFlags& flags, const Console& console) {
  OpenedPlace place;
  if (const auto opened = place.open(flags, true); !opened) return report_setting_errors(console, opened.error());
  const auto listed = backup::list_backups(place.place(), place.key);
  if (!listed) return report_error(console, listed.error());
  if (flags.json) {
    std::string text;
    json::Writer json(text);
    json.begin_array();
    for (const backup::ListedBackup& each : *listed) write_listed(json, each);
    json.end_array();
    console.out << text << "\n";
    return success;
  }
  TableText table(
      {{"ID"}, {"TAKEN"}, {"FILES", Align::right}, {"BYTES", Align::right}, {"NEW", Align::right}, {"STATE"}},
      console.out_columns);
  for (const backup::ListedBackup& each : *listed) {
    const backup::Manifest manifest = each.manifest.value_or(backup::Manifest());
    table.add({each.id, each.manifest ? base::format_timestamp(manifest.taken) : "",
               grouped(static_cast<std::int64_t>(manifest.files)), grouped(static_cast<std::int64_t>(manifest.bytes)),
               grouped(static_cast<std::int64_t>(manifest.new_bytes)), printable(state_of(each))});
  }
  console.out << table.take();
  return success;
}

int run_verify(const BackupFlags& flags, const Console& console) {
  OpenedPlace place;
  if (const auto opened = place.open(flags, true); !opened) return report_setting_errors(console, opened.error());
  const auto id = wanted_backup(place, flags, console);
  if (!id) return report_error(console, id.error());
  const auto found = backup::verify_backup(place.place(), *id, place.key);
  if (!found) return report_error(console, found.error());
  if (flags.json) {
    std::string text;
    json::Writer json(text);
    json.begin_object();
    json.key("id").string(*id);
    json.key("sound").boolean(found->sound());
    json.key("files").integer(static_cast<std::int64_t>(found->files));
    json.key("bytes").integer(static_cast<std::int64_t>(found->bytes));
    json.key("problem_count").integer(static_cast<std::int64_t>(found->problem_count));
    json.key("problems").begin_array();
    for (const std::string& problem : found->problems) json.string(problem);
    json.end_array();
    json.end_object();
    console.out << text << "\n";
    return found->sound() ? success : failure;
  }
  for (const std::string& problem : found->problems) console.print_foreign(problem + "\n");
  console.out << "backup " << *id << ": " << counted(static_cast<std::int64_t>(found->files), "file") << ", "
              << counted(static_cast<std::int64_t>(found->bytes), "byte") << ": "
              << (found->sound() ? "sound" : counted(static_cast<std::int64_t>(found->problem_count), "problem"))
              << "\n";
  return found->sound() ? success : failure;
}

int run_change_key(const BackupFlags& flags, const Console& console) {
  OpenedPlace place;
  if (const auto opened = place.open(flags, false); !opened) return report_setting_errors(console, opened.error());
  const auto fresh = read_master_key(flags.new_key);
  if (!fresh) return report_error(console, fresh.error());
  if (!place.key || !*fresh)
    return report_error(console, {base::ErrorCode::invalid, "--backup-key and --new-key must both be given"}, misuse);
  const std::string owner = base::make_uuid(place.random);
  const auto lock =
      backup::PlaceLock::take(place.place(), "a change of the master key", owner, place.clock, place.random);
  if (!lock) return report_error(console, lock.error());
  const auto changed = backup::change_master_key(place.place(), *place.key, **fresh, place.random);
  if (!changed) return report_error(console, changed.error());
  console.out << counted(changed->sealed, "data key") << " sealed by master key " << (*fresh)->id();
  if (changed->already > 0) console.out << "; " << grouped(changed->already) << " had been already";
  console.out
      << "\nGive --backup-key of the server the new key, and keep the old one as long as there are copies of the "
         "place from before.\n";
  return success;
}

void print_progress(const AnswerObject& state, const Console& console) {
  if (!console.errors_columns) return;
  console.errors << "\r"
                 << left_aligned(state.text("doing") + ": " + grouped(state.number("files")) + " files, " +
                                     grouped(state.number("bytes")) + " bytes",
                                 *console.errors_columns - 1)
                 << std::flush;
}

int run_backup(RestClient& client, const ClientOptions& shared, const Console& console) {
  base::SystemRandom random;
  const auto begun = client.send_with_key(OperationCall(begin_operation), base::make_uuid(random));
  if (!begun) return report_error(console, begun.error());
  if (begun->status / 100 != 2) return report_error(console, client.describe(*begun));
  base::Pause pause;
  while (true) {
    const auto body = client.fetch(OperationCall(state_operation));
    if (!body) return report_error(console, body.error());
    const auto answer = Answer::parse(state_operation, *body);
    if (!answer) return report_error(console, answer.error());
    const AnswerObject state = answer->root();
    if (state.flag("running")) {
      print_progress(state, console);
      pause.wait(poll_pause);
      continue;
    }
    if (console.errors_columns) console.errors << "\n";
    if (shared.json) console.print_foreign(*body);
    if (const std::string problem = state.text("problem"); !problem.empty())
      return report_error(console, {base::ErrorCode::io, problem});
    if (!shared.json)
      console.out << "backup " << state.text("last_id") << ": " << counted(state.number("files"), "file") << ", "
                  << counted(state.number("bytes"), "byte") << ", " << grouped(state.number("new_bytes"))
                  << " of them new; verified\n";
    return success;
  }
}

struct RestoredStore {
  std::string id;
  base::TimePoint taken;
  backup::RestoredFiles files;
  engine::StoreCheck check;
};

base::Result<RestoredStore> restore_store(OpenedPlace& place, const BackupFlags& flags, const Console& console) {
  TRY(const std::string id, wanted_backup(place, flags, console));
  TRY(backup::BackupReader reader, backup::BackupReader::open(place.place(), id, place.key));
  TRY(engine::StoreRestore restore, engine::StoreRestore::begin(place.settings.data));
  const auto written = backup::restore_files(reader, restore.place());
  if (!written) {
    restore.abandon();
    return base::propagate(written.error());
  }
  TRY_VOID(note_restored(restore.place(), id));
  TRY(engine::StoreCheck check, restore.finish(place.clock));
  if (!check.sound()) restore.abandon();
  return RestoredStore{id, reader.manifest().taken, *written, std::move(check)};
}

void print_advice(const Settings& settings, const RestoredStore& restored, const Console& console) {
  const std::string data = printable(settings.data.string());
  console.out << "backup " << restored.id << " of " << base::format_timestamp(restored.taken) << ": "
              << counted(static_cast<std::int64_t>(restored.files.files), "file") << ", "
              << counted(static_cast<std::int64_t>(restored.files.bytes), "byte") << ", "
              << counted(static_cast<std::int64_t>(restored.check.counts.items), "item") << " in " << data << "\n";
  std::error_code error;
  if (std::filesystem::is_directory(settings.data / "spool", error))
    console.out << "The spool is in " << data << "/spool.\n";
  console.out << "It does not know what was sent since: start it with --no-sending first, and look at what waits.\n";
}

int run_restore(const BackupFlags& flags, const Console& console) {
  OpenedPlace place;
  if (const auto opened = place.open(flags, true); !opened) return report_setting_errors(console, opened.error());
  const auto restored = restore_store(place, flags, console);
  if (!restored) return report_error(console, restored.error());
  for (const std::string& problem : restored->check.problems.lines()) console.print_foreign(problem + "\n");
  if (!restored->check.sound())
    return report_error(console, {base::ErrorCode::corrupt,
                                  "the store in backup " + restored->id + " is not sound, and nothing was restored"});
  if (!flags.json) {
    print_advice(place.settings, *restored, console);
    return success;
  }
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("id").string(restored->id);
  json.key("taken_at").string(base::format_timestamp(restored->taken));
  json.key("files").integer(static_cast<std::int64_t>(restored->files.files));
  json.key("bytes").integer(static_cast<std::int64_t>(restored->files.bytes));
  json.key("items").integer(static_cast<std::int64_t>(restored->check.counts.items));
  json.end_object();
  console.out << text << "\n";
  return success;
}

using BackupAction = int (*)(const BackupFlags& flags, const Console& console);

std::shared_ptr<BackupFlags> add_place_command(CommandLine& line, CLI::App& command, BackupAction run, bool has_data) {
  auto flags = std::make_shared<BackupFlags>();
  add_setting_flags(command, flags->settings, [has_data](const Setting& setting) {
    return concerns_the_place(setting) || (has_data && setting.key == "data");
  });
  line.add({&command, [flags, run](const Console& console) { return run(*flags, console); }, "", {}});
  return flags;
}

}  // namespace

void add_backup_command(CommandLine& line) {
  CLI::App& group =
      add_command_group(line, line.program(), "backup", "make, list and verify backups of the whole store");
  ClientCommand run(line, group, "run", begin_operation,
                    "have the server make a backup now, and wait until it is verified");
  run.run([&shared = run.shared()](RestClient& client, const Console& console) {
    return run_backup(client, shared, console);
  });
  CLI::App& list = *group.add_subcommand("list", "list the backups of a place, oldest first. Needs no server");
  const auto listed = add_place_command(line, list, run_list, false);
  list.add_flag("--json", listed->json, "print JSON");
  CLI::App& verify =
      *group.add_subcommand("verify", "read all of a backup, and tell whether it is sound. Needs no server");
  const auto verified = add_place_command(line, verify, run_verify, false);
  verify.add_option("id", verified->id, "id of the backup; the newest if it is not given")->type_name("ID");
  verify.add_flag("--json", verified->json, "print JSON");
  CLI::App& change = *group.add_subcommand(
      "change-key", "seal backups under a new master key; contents are not written again. Needs no server");
  const auto changed = add_place_command(line, change, run_change_key, false);
  change.add_option("--new-key", changed->new_key, "where the new master key is: file:PATH, env:NAME or command:LINE")
      ->type_name("SOURCE")
      ->required();
  add_examples(group, {"postino backup run", "postino backup list --backup-to /backups",
                       "postino backup change-key --backup-to /backups --backup-key file:old --new-key file:new"});
}

void add_restore_command(CommandLine& line) {
  CLI::App& command =
      *line.program().add_subcommand("restore", "restore a backup of the whole store to an empty data directory");
  const auto flags = add_place_command(line, command, run_restore, true);
  CLI::Option* const id =
      command.add_option("id", flags->id, "id of the backup; the newest if it is not given")->type_name("ID");
  command.add_option("--at", flags->at, "the newest backup that was taken by then, such as 2026-11-19T09:30:00Z")
      ->type_name("TIME")
      ->excludes(id);
  command.add_flag("--json", flags->json, "print JSON");
  add_examples(command, {"postino restore --backup-to /backups --data restored",
                         "postino restore --backup-to /backups --data restored --at 2026-11-19T09:30:00Z"});
}

}  // namespace postino::app
