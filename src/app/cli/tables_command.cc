#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <set>

#include "app/cli/command_line.h"
#include "app/cli/commands.h"
#include "app/cli/setting_flags.h"
#include "app/console/terminal_text.h"
#include "app/store/open_store.h"
#include "app/store/service_tables.h"
#include "app/store/table_uses.h"
#include "app/store/tables_export.h"
#include "base/log.h"
#include "base/this_thread.h"
#include "json/writer.h"
#include "store/table_plan.h"

namespace postino::app {

namespace {

std::set<std::string> buckets_of(const Settings& settings) {
  std::set<std::string> buckets;
  if (!settings.objects.bucket.empty()) buckets.insert(settings.objects.bucket);
  if (const auto spool = bucket_of_spool(settings.outbox)) buckets.insert(spool->bucket);
  return buckets;
}

// The status of a plan that has something to do.
constexpr int changes_due = 2;
constexpr base::Milliseconds look_pause{1'000};  // between looks at a table that is being made

struct TablesFlags {
  SettingFlags settings;
  bool json = false;
  int wait_minutes = 60;
  std::string format = "cloudformation";
  bool with_apply = false;
};

void write_texts(json::Writer& writer, std::string_view name, const std::vector<std::string>& texts) {
  writer.key(name).begin_array();
  for (const std::string& text : texts) writer.string(text);
  writer.end_array();
}

std::string plan_json(const store::TablePlan& plan, bool is_done) {
  std::vector<std::string> changes;
  for (const store::TableChange& change : plan.changes) changes.push_back(change.text());
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  write_texts(writer, is_done ? "done" : "changes", changes);
  write_texts(writer, "obstacles", plan.obstacles);
  write_texts(writer, "notes", plan.notes);
  writer.end_object();
  return text;
}

// A store that is not there has no tables. It is not made to find that out.
bool has_no_store(const Settings& settings) {
  std::error_code error;
  return settings.store == StoreKind::embedded && !std::filesystem::exists(settings.data, error) && !error;
}

store::TablePlan plan_of_nothing(const std::vector<store::TableSetup>& wanted) {
  store::TablePlan plan;
  using Kind = store::TableChange::Kind;
  for (const store::TableSetup& setup : wanted) {
    const std::string& name = setup.request.table_name;
    plan.changes.push_back({Kind::create_table, name, ""});
    if (!setup.expiry.empty()) plan.changes.push_back({Kind::enable_expiry, name, setup.expiry});
    if (setup.recovers) plan.changes.push_back({Kind::enable_recovery, name, ""});
  }
  return plan;
}

base::Result<std::unique_ptr<OpenStore>> open_for_tables(const Settings& settings, const base::Clock& clock) {
  auto opened = open_store(settings, clock, {});
  if (!opened && opened.error().code == base::ErrorCode::conflict)
    opened.error().message += "; the postino serve that uses it has made its tables itself";
  return opened;
}

base::Result<store::TablePlan> find_plan(const Settings& settings) {
  const std::vector<store::TableSetup> wanted = service_tables(settings);
  if (has_no_store(settings)) return plan_of_nothing(wanted);
  const base::SystemClock clock;
  TRY(const std::unique_ptr<OpenStore> opened, open_for_tables(settings, clock));
  return store::plan_tables(opened->store(), wanted);
}

void print_plan(const store::TablePlan& plan, const Console& console) {
  for (const std::string& note : plan.notes) console.print_foreign("note: " + note + "\n");
  for (const std::string& obstacle : plan.obstacles) console.print_foreign("in the way: " + obstacle + "\n");
  for (const store::TableChange& change : plan.changes) console.print_foreign(change.text() + "\n");
  if (plan.changes.empty() && plan.obstacles.empty())
    console.out << "nothing to do: all tables are there\n";
  else
    console.out << counted(static_cast<std::int64_t>(plan.changes.size()), "change") << " to be made"
                << (plan.obstacles.empty() ? "; 'postino tables apply' makes them\n"
                                           : ", after what is in the way is gone\n");
}

int run_plan(const TablesFlags& flags, const Console& console) {
  const auto settings = settings_of(flags.settings);
  if (!settings) return report_setting_errors(console, settings.error());
  base::configure_log(base::LogLevel::error, settings->log_format);
  const auto plan = find_plan(*settings);
  if (!plan) return report_error(console, plan.error());
  if (flags.json)
    console.out << plan_json(*plan, false) << "\n";
  else
    print_plan(*plan, console);
  return plan->changes.empty() && plan->obstacles.empty() ? static_cast<int>(success) : changes_due;
}

base::Result<store::TablePlan> make_tables(const Settings& settings, const TablesFlags& flags, const Console& console) {
  const base::SystemClock clock;
  TRY(const std::unique_ptr<OpenStore> opened, open_for_tables(settings, clock));
  base::Pause pause;
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(flags.wait_minutes);
  store::TableApplication application;
  application.wait = [&] {
    pause.wait(look_pause);
    return std::chrono::steady_clock::now() < end;
  };
  if (!flags.json)
    application.done = [&console](const store::TableChange& change) {
      console.print_foreign(change.text() + "\n");
      console.out << std::flush;
    };
  return store::apply_tables(opened->store(), service_tables(settings), application);
}

int run_apply(const TablesFlags& flags, const Console& console) {
  const auto settings = settings_of(flags.settings);
  if (!settings) return report_setting_errors(console, settings.error());
  base::configure_log(base::LogLevel::error, settings->log_format);
  const auto done = make_tables(*settings, flags, console);
  if (!done) return report_error(console, done.error());
  if (flags.json) {
    console.out << plan_json(*done, true) << "\n";
    return success;
  }
  for (const std::string& note : done->notes) console.print_foreign("note: " + note + "\n");
  if (done->changes.empty())
    console.out << "nothing to do: all tables are there\n";
  else
    console.out << counted(static_cast<std::int64_t>(done->changes.size()), "change") << " made\n";
  return success;
}

// What the reader of a policy should know of it.
std::vector<std::string> notes_on_policy(const std::string& policy, const Settings& settings,
                                         const std::string& region) {
  std::vector<std::string> notes;
  const Settings by_default;
  if (settings.account == by_default.account)
    notes.push_back("the policy is for account " + settings.account + ", which is made up: give yours with --account");
  if (region == by_default.region)
    notes.push_back("the policy is for region " + region + ": if that is another one, give it with --store-region");
  if (const std::size_t size = characters_of_policy(policy); size > largest_policy)
    notes.push_back("the policy has " + grouped(static_cast<std::int64_t>(size)) + " characters, and IAM takes " +
                    grouped(static_cast<std::int64_t>(largest_policy)) +
                    " as one managed policy: make two of its statements");
  return notes;
}

int run_export(const TablesFlags& flags, const Console& console) {
  if (flags.with_apply && flags.format != "iam")
    return report_error(console, {base::ErrorCode::invalid, "--with-apply is for --format iam"}, misuse);
  auto settings = settings_of(flags.settings);
  if (!settings) return report_setting_errors(console, settings.error());
  settings->store = StoreKind::dynamodb;  // that is where the other tools make tables
  const std::vector<store::TableSetup> tables = service_tables(*settings);
  if (flags.format == "terraform") {
    console.out << terraform_text(tables);
  } else if (flags.format == "iam") {
    const std::string& region = settings->remote.region.empty() ? settings->region : settings->remote.region;
    const std::string policy = iam_policy_text(tables, {.region = region,
                                                        .account = settings->account,
                                                        .followed = followed_tables(*settings),
                                                        .changes_tables = flags.with_apply,
                                                        .uses = table_uses(*settings),
                                                        .buckets = buckets_of(*settings)});
    console.out << policy;
    for (const std::string& note : notes_on_policy(policy, *settings, region))
      console.errors << "postino: note: " << printable(note) << "\n";
  } else {
    console.out << cloudformation_text(tables);
  }
  return success;
}

CLI::App* add_tables_action(CommandLine& line, CLI::App& group, const std::string& name, const std::string& help,
                            int (*run)(const TablesFlags&, const Console&), const std::shared_ptr<TablesFlags>& flags) {
  CLI::App* const command = group.add_subcommand(name, help);
  add_setting_flags(*command, flags->settings, names_tables);
  line.add({command, [flags, run](const Console& console) { return run(*flags, console); }, "", {}});
  return command;
}

}  // namespace

void add_tables_command(CommandLine& line) {
  CLI::App* const group = line.program().add_subcommand(
      "tables", "show, make and export the tables that the services need, with indexes, expiry, streams and recovery");
  group->require_subcommand(1);
  const auto planned = std::make_shared<TablesFlags>();
  add_tables_action(line, *group, "plan", "show what the tables lack; the exit status is 2 if they lack something",
                    run_plan, planned)
      ->add_flag("--json", planned->json, "print the result as JSON");
  const auto applied = std::make_shared<TablesFlags>();
  CLI::App* const apply = add_tables_action(
      line, *group, "apply", "make what the tables lack, and wait until it is there", run_apply, applied);
  apply->add_flag("--json", applied->json, "print the result as JSON");
  apply->add_option("--wait", applied->wait_minutes, "longest time in minutes for tables and indexes to be made")
      ->type_name("MINUTES")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  const auto exported = std::make_shared<TablesFlags>();
  exported->settings.calls_nothing = true;
  CLI::App* const as_text =
      add_tables_action(line, *group, "export", "print the tables for another tool, or the rights that a server needs",
                        run_export, exported);
  as_text->add_option("--format", exported->format, "cloudformation (YAML), terraform, or iam (a policy)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"cloudformation", "terraform", "iam"}))
      ->capture_default_str();
  as_text->add_flag("--with-apply", exported->with_apply,
                    "with --format iam: also the rights that 'postino tables apply' needs");
}

}  // namespace postino::app
