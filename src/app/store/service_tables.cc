#include "app/store/service_tables.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "idempotency/guard.h"
#include "messages/queue_table.h"
#include "metrics/metrics_table.h"
#include "outbox/store_ledger/store_tables.h"
#include "reminders/reminders.h"
#include "support/support_desk.h"

namespace postino::app {

namespace {

reminders::ReminderTables reminder_tables(const Settings& settings) {
  reminders::ReminderTables tables;
  tables.tracking = settings.reminders.table;
  tables.marks_audit = settings.store == StoreKind::embedded;
  return tables;
}

// Sessions of users are in the table of tickets, too.
bool needs_tickets(const Settings& settings) { return !settings.tickets.off || !settings.outbox.users.empty(); }

std::vector<store::TableSetup> email_tables(const Settings& settings) {
  const outbox::StoreTables tables{settings.outbox.table, !settings.outbox.no_status_index};
  std::vector<store::TableSetup> setups = outbox::table_setups(tables, settings.store == StoreKind::dynamodb);
  // E-mails in a database leave the sandbox in the store.
  const bool has_sandbox = settings.outbox.relays.empty();
  if (settings.outbox.ledger == LedgerKind::mysql)
    std::erase_if(setups, [&](const store::TableSetup& each) {
      return !has_sandbox || each.request.table_name != tables.mailbox();
    });
  return setups;
}

}  // namespace

std::string audit_table(const Settings& settings) { return reminder_tables(settings).audit(); }

std::optional<access::AuditOptions> audit_options(const Settings& settings) {
  if (settings.outbox.off || settings.audit.off) return std::nullopt;
  access::AuditOptions options;
  options.table = settings.audit.table;
  options.kept = settings.audit.kept;
  options.marks_table = settings.store == StoreKind::embedded;
  return options;
}

std::optional<access::KeyTable> key_table(const Settings& settings) {
  if (!keeps_keys(settings)) return std::nullopt;
  return access::KeyTable{settings.keys.table, settings.store == StoreKind::embedded};
}

std::set<std::string> followed_tables(const Settings& settings) {
  std::set<std::string> followed;
  if (settings.outbox.off) return followed;
  if (!settings.tickets.off) followed.insert(settings.tickets.table);
  if (settings.metrics.off) return followed;
  if (settings.metrics.emails) followed.insert(settings.outbox.table);
  if (!settings.reminders.off) followed.insert(settings.reminders.table);
  for (const ChangeSubscriber& subscriber : settings.metrics.subscribers) followed.insert(subscriber.table);
  return followed;
}

std::vector<store::TableSetup> service_tables(const Settings& settings) {
  if (settings.outbox.off) return {};
  std::vector<store::TableSetup> setups = email_tables(settings);
  const auto add = [&setups](std::vector<store::TableSetup> more) {
    std::ranges::move(more, std::back_inserter(setups));
  };
  add(idempotency::table_setups(settings.idempotency.table));
  add({messages::QueueTable::setup(settings.messages.queues)});
  if (!settings.reminders.off) add(reminders::table_setups(reminder_tables(settings)));
  if (needs_tickets(settings)) add({support::ticket_table_setup({.tickets = settings.tickets.table})});
  if (!settings.metrics.off) add({metrics::metrics_table_setup(settings.metrics.table)});
  if (const auto audit = audit_options(settings)) add({access::audit_table_setup(*audit)});
  if (const auto keys = key_table(settings)) add({access::key_table_setup(*keys)});
  const std::set<std::string> followed = followed_tables(settings);
  for (store::TableSetup& setup : setups)
    if (followed.contains(setup.request.table_name))
      setup.request.stream =
          store::StreamSpecification{.enabled = true, .view_type = store::StreamViewType::new_and_old_images};
  return setups;
}

}  // namespace postino::app
