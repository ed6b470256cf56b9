#include "app/cli/service_counts.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "app/server/outbox_storage.h"
#include "item/attribute_text.h"
#include "messages/queue_layout.h"
#include "messages/queue_table.h"
#include "outbox/store_ledger/store_recount.h"
#include "outbox/store_ledger/store_tables.h"

namespace postino::app {

namespace {

// What the name of the table of counts has behind that of the table of e-mails.
std::string end_of_counts() { return outbox::StoreTables{""}.counts(); }

bool is_meta(const item::Item& item) {
  return item::attribute_text(item, "Status") == outbox::meta_status && !item::attribute_text(item, "Id").empty();
}

bool is_slice(const item::Item& item) {
  return !item::attribute_text(item, "Tenant").empty() && !item::attribute_text(item, "Slice").empty();
}

void add_lines(std::vector<std::string>& all, const std::string& table, const std::string& usual,
               const std::vector<std::string>& lines) {
  for (const std::string& line : lines) all.push_back(table == usual ? line : table + ": " + line);
}

using Tables = std::map<std::string, store::KeySchema>;

// Of all tables that are there, by name.
store::Answer<Tables> read_tables(store::Store& store) {
  Tables tables;
  store::ListTablesRequest list;
  do {
    TRY(const store::ListTablesResponse page, store.list_tables(list));
    for (const std::string& name : page.table_names)
      if (const auto described = store.describe_table(name)) tables.emplace(name, described->key_schema);
    list.exclusive_start_table_name = page.last_evaluated_table_name;
  } while (list.exclusive_start_table_name);
  return tables;
}

bool has_table(const Tables& tables, const store::TableSetup& setup) {
  const auto found = tables.find(setup.request.table_name);
  return found != tables.end() && found->second == setup.request.key_schema;
}

// An outbox has further tables beside that of its e-mails; the counts may be among what is lost.
bool is_outbox(const Tables& tables, const std::string& name) {
  const std::vector<store::TableSetup> setups = outbox::table_setups({name});
  const auto count = std::ranges::count_if(setups, [&](const auto& setup) { return has_table(tables, setup); });
  const auto emails = std::ranges::find_if(setups, [&](const auto& setup) { return setup.request.table_name == name; });
  return count > 1 && emails != setups.end() && has_table(tables, *emails);
}

store::Answer<ServiceTables> find_service_tables(const Settings& settings, store::Store& store) {
  TRY(const Tables tables, read_tables(store));
  ServiceTables found;
  for (const auto& [name, keys] : tables) {
    if (name == settings.outbox.table || is_outbox(tables, name)) found.outboxes.push_back(name);
    if (has_table(tables, messages::QueueTable::setup(name))) found.queues.push_back(name);
  }
  return found;
}

}  // namespace

std::vector<std::string> ServiceTables::described() const {
  std::vector<std::string> lines;
  for (const std::string& table : outboxes) lines.push_back("e-mails of table " + table);
  for (const std::string& table : queues) lines.push_back("messages of table " + table);
  return lines;
}

ServiceCounts::ServiceCounts(const Settings& settings)
    : emails_table_(settings.outbox.table),
      queues_table_(settings.messages.queues),
      now_(base::SystemClock().now()),
      keep_(outbox_policy(settings.outbox).keep) {}

engine::EachItem ServiceCounts::reader() {
  return [this](const std::string& table, const item::Item& item) { add(table, item); };
}

ServiceCounts::Outbox& ServiceCounts::outbox_of(const std::string& emails) {
  return outboxes_.try_emplace(emails, Outbox{{{emails}, now_, keep_}}).first->second;
}

void ServiceCounts::add(const std::string& table, const item::Item& item) {
  if (is_meta(item)) {
    Outbox& outbox = outbox_of(table);
    outbox.has_emails = true;
    outbox.check.add(table, item);
  } else if (table.ends_with(end_of_counts()) && is_slice(item)) {
    Outbox& outbox = outbox_of(table.substr(0, table.size() - end_of_counts().size()));
    outbox.has_counts = true;
    outbox.check.add(table, item);
  } else if (const std::string shelf = item::attribute_text(item, "Shelf"); !shelf.empty()) {
    Queues& queues = queues_.try_emplace(table, Queues{messages::QueueCountCheck(table)}).first->second;
    queues.has_counts |= shelf.starts_with(messages::counts_name(""));
    queues.check.add(table, item);
  }
}

bool ServiceCounts::counts(const std::string& emails, const Outbox& outbox) const {
  return emails == emails_table_ || (outbox.has_emails && outbox.has_counts);
}

bool ServiceCounts::counts(const std::string& table, const Queues& queues) const {
  return table == queues_table_ || queues.has_counts;
}

std::vector<std::string> ServiceCounts::differences() const {
  std::vector<std::string> lines;
  for (const auto& [table, outbox] : outboxes_)
    if (counts(table, outbox)) add_lines(lines, table, outbox::StoreTables().emails, outbox.check.differences());
  for (const auto& [table, queues] : queues_)
    if (counts(table, queues)) add_lines(lines, table, MessagesSettings().queues, queues.check.differences());
  return lines;
}

std::vector<std::string> ServiceCounts::unreadable() const {
  std::vector<std::string> lines;
  for (const auto& [table, outbox] : outboxes_)
    if (counts(table, outbox)) add_lines(lines, table, outbox::StoreTables().emails, outbox.check.unreadable());
  return lines;
}

ServiceTables ServiceCounts::tables() const {
  ServiceTables found;
  for (const auto& [table, outbox] : outboxes_)
    if (counts(table, outbox)) found.outboxes.push_back(table);
  for (const auto& [table, queues] : queues_)
    if (counts(table, queues)) found.queues.push_back(table);
  return found;
}

base::Result<ServiceTables> count_anew(const Settings& settings, store::Store& store) {
  auto tables = find_service_tables(settings, store);
  if (!tables) return base::propagate(store::as_error(tables.error()));
  for (const std::string& table : tables->outboxes)
    TRY_VOID(outbox::recount(store, {table}, outbox_policy(settings.outbox).keep));
  base::SystemRandom random;
  const auto no_pause = [](base::Milliseconds) {};  // no other program uses the store
  for (const std::string& table : tables->queues) {
    messages::QueueTable queues(store, random, store::Retry(random, no_pause), table);
    if (const auto counted = queues.recount(); !counted) return base::propagate(store::as_error(counted.error()));
  }
  return *std::move(tables);
}

}  // namespace postino::app
