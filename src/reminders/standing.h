// What decides on a reminder to a customer, beside its draft.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reminders/customers.h"
#include "reminders/record/guard.h"
#include "reminders/reminder_mailer.h"
#include "reminders/reminder_store.h"

namespace postino::reminders {

struct Standing {
  Guard guard;
  std::optional<Customer> customer;  // nullopt: it has no profile, and only drafts tell of it
  std::string address;               // where a reminder goes
  std::string stopped;               // why the customer does not get it, whatever the rules say; empty: may
};

// Why the customer gets no reminder about these invoices, but for the suppression list: none at all, or they are no
// longer overdue. Empty: may. `invoices` may be none. `customer`, if given, is set to the profile, if there is one.
OrRefusal<std::string> why_stopped_now(ReminderStore& store, Customers& customers, const Keys& keys,
                                       const std::string& customer_id, const std::vector<std::string>& invoices,
                                       std::optional<Customer>* customer = nullptr);

// The guard is read first: whatever changes the rest afterwards gives it another version. Only the suppression list is
// not under it, and the outbox asks that again when it sends. `draft_address` is for customers without a profile.
OrRefusal<Standing> read_standing(ReminderStore& store, Customers& customers, ReminderMailer& mail, const Keys& keys,
                                  const std::string& customer_id, const std::string& draft_address,
                                  const std::vector<std::string>& invoices);

}  // namespace postino::reminders
