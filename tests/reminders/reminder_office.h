// Reminders with an outbox, on a store of a test's own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "memory_reminder_mailer.h"
#include "outbox/outbox.h"
#include "outbox/store_ledger/store_ledger.h"
#include "outbox/store_ledger/store_suppressions.h"
#include "reminders/approvals.h"
#include "reminders/customers.h"
#include "reminders/deliveries.h"
#include "reminders/handovers.h"
#include "reminders/history.h"
#include "reminders/outbox_reminder_mailer.h"
#include "reminders_store.h"

namespace postino::reminders {

// The services as one process has them. Several can stand on one store.
struct ReminderOffice {
  // `other_mail` in the place of an outbox in the same store.
  explicit ReminderOffice(RemindersStore& on, store::Store& through, ReminderMailer* other_mail = nullptr,
                          ApprovalRules rules = {.other_person = false, .from = "Billing <billing@example.com>"});
  explicit ReminderOffice(RemindersStore& on, ReminderMailer* other_mail = nullptr)
      : ReminderOffice(on, on.engine(), other_mail) {}

  // As a person called `name`.
  OrRefusal<SentReminder> approve(const std::string& draft_id, int seen = 1, const std::string& name = "user_123") {
    return approvals.approve(draft_id, seen, {.tenant = "", .name = name, .key = {}, .from = {}});
  }
  // E-mails in the outbox, whatever their state.
  std::vector<outbox::Email> emails();

  ReminderStore records;
  outbox::StoreLedger ledger;
  outbox::StoreSuppressions suppressions;
  outbox::WorkSignal signal;
  outbox::Outbox outbox;
  OutboxReminderMailer own_mail;
  ReminderMailer& mail;
  Customers customers;
  Approvals approvals;
  Handovers handovers;
  Deliveries deliveries;
  History history;
};

// A draft as the seed has it, in the store: its id. Each is a second later than the one before.
std::string put_draft(RemindersStore& store, const std::string& customer, const std::string& type,
                      base::TimePoint at = test_start);

// "" for a success, or the kind of the refusal.
std::string outcome_of(const OrRefusal<SentReminder>& answer);

}  // namespace postino::reminders
