#include "app/copy/service_copy.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <utility>

#include "app/console/progress_bar.h"
#include "app/server/support_service.h"
#include "app/store/made_tables.h"
#include "app/store/service_tables.h"
#include "messages/queue_layout.h"
#include "messages/queue_table.h"
#include "metrics/metrics_table.h"
#include "objects/large_attributes.h"
#include "outbox/store_ledger/store_layout.h"
#include "store/table_plan.h"
#include "support/attachments.h"

namespace postino::app {

namespace {

constexpr base::Milliseconds table_look_pause{500};  // between looks at a table that is being made
constexpr std::chrono::hours table_patience{1};
constexpr base::Milliseconds moment_of_expiry = std::chrono::minutes(1);
constexpr int counting_segments = 8;

std::int64_t sum_of(const outbox::Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

// Those whose items are not copied as they are: a ledger reads and writes them.
bool is_of_emails(const std::string& table, const Settings& settings) {
  const outbox::StoreTables tables{settings.outbox.table};
  return table == tables.emails || table == tables.spool() || table == tables.counts();
}

// Counts of queues are made again from their messages. How far streams were followed, and which tables were made, is
// true of no other store.
std::vector<std::string> not_copied_of(const std::string& table, const Settings& settings) {
  if (table == settings.messages.queues) return {messages::counts_name("")};
  if (table == settings.metrics.table) return metrics::names_of_following();
  if (table == settings.idempotency.table) return {std::string(made_tables_note)};
  return {};
}

bool have_same_key_types(const store::TableSetup& setup, const store::TableDescription& found) {
  const auto type_in = [](const std::vector<store::AttributeDefinition>& definitions, const std::string& name) {
    const auto definition = std::ranges::find(definitions, name, &store::AttributeDefinition::name);
    return definition != definitions.end() ? std::optional(definition->type) : std::nullopt;
  };
  return setup.request.key_schema == found.key_schema &&
         std::ranges::all_of(setup.request.key_schema, [&](const store::KeyElement& key) {
           return type_in(setup.request.attribute_definitions, key.name) ==
                  type_in(found.attribute_definitions, key.name);
         });
}

base::Error at_place(const CopySide& side, const base::Error& error) {
  return {error.code, side.describe() + ": " + error.message};
}

}  // namespace

bool CopyOutcome::equal() const {
  return std::ranges::all_of(tables, [](const TableOutcome& table) { return table.equal(); }) &&
         (!emails || emails->equal());
}

base::Result<CopyOutcome> ServiceCopy::run() {
  outcome_ = {};
  if (source_.store() != nullptr && target_.store() != nullptr) {
    TRY_VOID(run_tables());
  } else {
    outcome_.has_suppressions = true;
    TRY_VOID(copy_emails());
  }
  return std::move(outcome_);
}

base::Result<void> ServiceCopy::run_tables() {
  const std::vector<store::TableSetup> setups = service_tables(target_.settings());
  std::vector<bool> there;
  for (const store::TableSetup& setup : setups) {
    TRY(const bool is_there, is_at_source(setup));
    there.push_back(is_there);
  }
  // Without change streams: those who follow one must not take what is copied for news.
  TRY_VOID(make_tables(false));
  bool has_emails = false;
  for (std::size_t i = 0; i < setups.size(); ++i) {
    const std::string& table = setups[i].request.table_name;
    if (is_of_emails(table, source_.settings())) {
      has_emails = has_emails || (there[i] && table == source_.settings().outbox.table);
    } else if (there[i]) {
      TRY(TableOutcome copied, copy_table(setups[i]));
      outcome_.tables.push_back(std::move(copied));
    } else {
      outcome_.tables.push_back(
          {.table = table, .skipped = "the source has no such table", .items = {}, .compared = {}});
    }
  }
  // Those who must get no mail, and the keys of requests that were answered, are there before the e-mails.
  if (has_emails) TRY_VOID(copy_emails());
  if (!has_emails && source_.settings().outbox.ledger == LedgerKind::mysql)
    outcome_.notes.emplace_back("e-mails are in a database (--ledger mysql), and were not copied");
  TRY_VOID(count_anew());
  TRY_VOID(note_other_tables(setups));
  note_objects();
  return make_tables(true);
}

base::Result<void> ServiceCopy::make_tables(bool with_streams) {
  std::vector<store::TableSetup> setups = service_tables(target_.settings());
  if (!with_streams)
    for (store::TableSetup& setup : setups) setup.request.stream = std::nullopt;
  ProgressBar bar(console_.errors, console_.errors_columns, "making tables", std::nullopt);
  const auto end = std::chrono::steady_clock::now() + table_patience;
  std::int64_t made = 0;
  store::TableApplication application;
  application.wait = [&] {
    tools_.pause.wait(table_look_pause);
    return std::chrono::steady_clock::now() < end;
  };
  application.tell = [&](const store::TableChange&) { bar.show(++made); };
  const auto done = store::apply_tables(*target_.store(), setups, application);
  if (!done) return base::propagate(at_place(target_, done.error()));
  if (with_streams) outcome_.notes.insert(outcome_.notes.end(), done->notes.begin(), done->notes.end());
  return {};
}

// invalid when there is another table of this name.
base::Result<bool> ServiceCopy::is_at_source(const store::TableSetup& setup) {
  const std::string& name = setup.request.table_name;
  const auto retry = tools_.retry();
  const auto found = retry([&] { return source_.store()->describe_table(name); });
  if (!found && found.error().type == store::ErrorType::resource_not_found) return false;
  if (!found) return base::propagate(at_place(source_, store::as_error(found.error())));
  if (!have_same_key_types(setup, *found))
    return base::invalid(source_.describe() + ": table " + name +
                         " has other keys than this service's, so it cannot be "
                         "copied. Name the right one with the --...-table settings");
  return true;
}

base::Result<TableOutcome> ServiceCopy::copy_table(const store::TableSetup& setup) {
  TableOutcome outcome;
  outcome.table = setup.request.table_name;
  transfer::CopiedTable table{.name = outcome.table,
                              .keys = setup.request.key_schema,
                              .expiry = setup.expiry,
                              .left_out = not_copied_of(outcome.table, source_.settings())};
  // DynamoDB counts its items every six hours: it is an estimate.
  std::optional<std::int64_t> expected;
  if (const auto found = source_.store()->describe_table(outcome.table); found && found->item_count > 0)
    expected = found->item_count;
  transfer::TableCopy copy(*source_.store(), *target_.store(), std::move(table), tools_.clock, tools_.retry());
  {
    ProgressBar bar(console_.errors, console_.errors_columns, "copying " + outcome.table, expected);
    const auto items = copy.copy([&](std::int64_t done) { bar.show(done); });
    if (!items) return base::fail(items.error().code, "table " + outcome.table + ": " + items.error().message);
    outcome.items = *items;
  }
  ProgressBar bar(console_.errors, console_.errors_columns, "counting " + outcome.table,
                  expected ? std::optional(*expected * 2) : std::nullopt);
  const auto compared = copy.compare([&](std::int64_t done) { bar.show(done); });
  if (!compared) return base::fail(compared.error().code, "table " + outcome.table + ": " + compared.error().message);
  outcome.compared = *compared;
  return outcome;
}

base::Result<void> ServiceCopy::copy_emails() {
  TRY(OutboxStorage* const from, source_.outbox());
  TRY(OutboxStorage* const to, target_.outbox());
  outbox::CopyOptions options;
  options.with_suppressions = outcome_.has_suppressions;
  options.is_over = [this](const outbox::Email& email) {
    return outbox::is_finished(email) &&
           outbox::expiry_of(email, tools_.policy) <= tools_.clock.now() + moment_of_expiry;
  };
  outbox::LedgerCopy copy({from->ledger(), from->suppressions()}, {to->ledger(), to->suppressions()}, options);
  TRY(const outbox::Counts expected, from->ledger().counts(std::nullopt));
  const auto shown = [&](const std::string& label, const auto& work) {
    ProgressBar bar(console_.errors, console_.errors_columns, label, sum_of(expected));
    return work([&](std::int64_t done) { bar.show(done); });
  };
  EmailOutcome emails;
  TRY(emails.counts, shown("copying e-mails", [&](const auto& progress) { return copy.copy(progress); }));
  TRY(emails.comparison, shown("comparing e-mails", [&](const auto& progress) { return copy.compare(progress); }));
  for (const outbox::MalformedRecord& record : from->ledger().malformed())
    emails.counts.failures.push_back(record.id + ": " + record.error);
  if (source_.store() != nullptr) {
    TRY(emails.unlisted, count_unlisted(emails));
  }
  outcome_.emails = std::move(emails);
  return {};
}

// The records themselves are counted: lists come from an index.
base::Result<std::int64_t> ServiceCopy::count_unlisted(const EmailOutcome& emails) {
  store::ScanRequest scan;
  scan.table_name = source_.settings().outbox.table;
  scan.filter = "#status = :meta";
  scan.placeholders.names = expr::Names{{"#status", "Status"}};
  scan.placeholders.values = item::Map{{":meta", outbox::meta_status}};
  ProgressBar bar(console_.errors, console_.errors_columns, "counting e-mails",
                  sum_of(emails.comparison.source) + emails.comparison.over);
  std::mutex mutex;
  std::int64_t done = 0;
  TRY(const std::int64_t records,
      transfer::count_items(*source_.store(), scan, counting_segments, tools_.retry(), [&](std::int64_t more) {
        const std::lock_guard lock(mutex);
        bar.show(done += more);
      }));
  return std::max<std::int64_t>(records - sum_of(emails.comparison.source) - emails.comparison.over, 0);
}

// What is a sum over what was copied.
base::Result<void> ServiceCopy::count_anew() {
  const Settings& settings = target_.settings();
  const auto is_copied = [&](const std::string& name) {
    const auto found = std::ranges::find(outcome_.tables, name, &TableOutcome::table);
    return found != outcome_.tables.end() && found->skipped.empty();
  };
  if (is_copied(settings.messages.queues)) {
    messages::QueueTable queues(*target_.store(), tools_.random, tools_.retry(), settings.messages.queues);
    if (const auto counted = queues.recount(); !counted) return base::propagate(store::as_error(counted.error()));
  }
  if (!is_copied(settings.metrics.table)) return {};
  // A store that was never followed is counted anyway.
  TRY(const int sources,
      metrics::want_recount(*target_.store(), settings.metrics.table, "items were copied into the store"));
  static_cast<void>(sources);
  return {};
}

// A server without a place of their own for them has kept them beside its store.
void ServiceCopy::note_objects() {
  const Settings& settings = source_.settings();
  if (settings.tickets.off || source_.place() != CopyPlace::embedded) return;
  Settings by_default = settings;
  by_default.objects = {};
  const std::filesystem::path folder = objects_directory(by_default);
  const bool is_elsewhere = !settings.objects.bucket.empty() || objects_directory(settings) != folder;
  std::error_code error;
  const std::string kinds[] = {objects::large_items_kind().name, support::attachments_kind().name};
  const bool has_any = std::ranges::any_of(
      kinds, [&](const std::string& kind) { return std::filesystem::is_directory(folder / kind, error); });
  if (!is_elsewhere || !has_any) return;
  outcome_.notes.push_back("objects in '" + folder.string() +
                           "' were not copied: attachments of tickets, and large parts of items. See 'postino copy' in "
                           "docs/command-line.md");
}

// Those of a store on other machines may be a thousand, and are not our business.
base::Result<void> ServiceCopy::note_other_tables(const std::vector<store::TableSetup>& setups) {
  if (source_.place() != CopyPlace::embedded) return {};
  store::ListTablesRequest request;
  do {
    const auto page = source_.store()->list_tables(request);
    if (!page) return base::propagate(store::as_error(page.error()));
    for (const std::string& name : page->table_names)
      if (std::ranges::none_of(setups, [&](const auto& setup) { return setup.request.table_name == name; }))
        outcome_.notes.push_back("table " + name +
                                 " is of none of the services that the settings name, and was not copied");
    request.exclusive_start_table_name = page->last_evaluated_table_name;
  } while (request.exclusive_start_table_name);
  return {};
}

}  // namespace postino::app
