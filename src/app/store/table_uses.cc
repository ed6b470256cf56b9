#include "app/store/table_uses.h"

#include "app/store/service_tables.h"
#include "outbox/store_ledger/store_layout.h"

namespace postino::app {

namespace {

using Operations = std::set<std::string, std::less<>>;

// `email-outbox` and the tables beside it.
void add_outbox(const Settings& settings, std::map<std::string, TableUse, std::less<>>& uses) {
  const outbox::StoreTables tables{settings.outbox.table};
  const auto add = [&](const std::string& table, Operations operations) {
    uses[table] = {"outbox", std::move(operations)};
  };
  // Deleted are notes about writes of other programs, which are made in batches; checked is that a restored e-mail is
  // not there; read by itself is the number of shards.
  add(tables.emails, {"GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem",
                      "BatchWriteItem"});
  // Without the index all e-mails are looked through in the table.
  if (settings.outbox.no_status_index) uses[tables.emails].operations.insert("Scan");
  add(tables.spool(), {"GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"});
  // Its slices are read one by one where they are mended, and all where those of past days are added up.
  add(tables.counts(), {"GetItem", "Query", "Scan", "PutItem", "UpdateItem", "DeleteItem"});
  add(tables.suppressions(), {"BatchGetItem", "Query", "Scan", "PutItem", "DeleteItem"});
  add(tables.mailbox(), {"GetItem", "Query", "PutItem", "DeleteItem"});
  add(tables.accept_keys(), {"GetItem", "PutItem", "UpdateItem"});  // what has expired is removed by the store
}

void add_reminders(const Settings& settings, std::map<std::string, TableUse, std::less<>>& uses) {
  uses[settings.reminders.table] = {
      "reminders", {"GetItem", "Query", "Scan", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"}};
  // What was decided is never changed. Deleted is only the objection of a customer who takes it back.
  uses[audit_table(settings)] = {"reminders", {"GetItem", "Query", "PutItem", "DeleteItem"}};
}

// Sessions of users are in the table of tickets, too.
void add_tickets(const Settings& settings, std::map<std::string, TableUse, std::less<>>& uses) {
  TableUse use{"tickets", {"GetItem", "BatchGetItem", "Query", "PutItem", "DeleteItem"}};
  if (!settings.tickets.off) use.operations.merge(Operations{"Scan", "UpdateItem", "ConditionCheckItem"});
  uses[settings.tickets.table] = std::move(use);
}

// Metrics count tables again by reading all of them.
void add_counted_tables(const Settings& settings, std::map<std::string, TableUse, std::less<>>& uses) {
  const auto add = [&](const std::string& table) {
    if (const auto found = uses.find(table); found != uses.end()) found->second.operations.insert("Scan");
  };
  if (settings.metrics.emails) add(settings.outbox.table);
  add(settings.reminders.table);
  if (!settings.tickets.off) add(settings.tickets.table);
}

}  // namespace

std::map<std::string, TableUse, std::less<>> table_uses(const Settings& settings) {
  std::map<std::string, TableUse, std::less<>> uses;
  add_outbox(settings, uses);
  uses[settings.idempotency.table] = {"idempotency", {"GetItem", "PutItem", "UpdateItem"}};
  uses[settings.idempotency.table + "-answers"] = {"idempotency", {"GetItem", "PutItem"}};
  uses[settings.messages.queues] = {"messages", {"GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"}};
  add_reminders(settings, uses);
  add_tickets(settings, uses);
  uses[settings.metrics.table] = {"metrics",
                                  {"GetItem", "BatchGetItem", "Query", "Scan", "PutItem", "UpdateItem", "DeleteItem"}};
  // Entries are never changed; the record of how far a chain has come is.
  uses[settings.audit.table] = {"audit", {"GetItem", "Query", "PutItem", "UpdateItem"}};
  uses[settings.keys.table] = {"keys", {"GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"}};
  if (!settings.metrics.off) add_counted_tables(settings, uses);
  std::set<std::string> wanted;
  for (const store::TableSetup& setup : service_tables(settings)) wanted.insert(setup.request.table_name);
  std::erase_if(uses, [&](const auto& use) { return !wanted.contains(use.first); });
  return uses;
}

remote::NeededTables needed_operations(const Settings& settings) {
  remote::NeededTables needed;
  for (auto& [table, use] : table_uses(settings))
    needed.emplace(table, use.operations).first->second.insert("DescribeTable");
  return needed;
}

}  // namespace postino::app
