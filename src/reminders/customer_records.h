// The records of one customer, whatever they are.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reminders/reminder_store.h"

namespace postino::reminders {

// What a record is, by its sort key: "drafts", "revisions", "sent_reminders", "invoices", "overrides", "profile",
// "guard", or "others". Empty for copies of what is elsewhere.
std::string_view kind_of_record(std::string_view sort_key);

// Everything in the customer's partition, page by page. Consistent.
OrRefusal<void> read_partition(ReminderStore& store, const Keys& keys, const std::string& customer_id,
                               const std::string& sort_begin,
                               const std::function<OrRefusal<void>(std::vector<item::Item>)>& take);

// The newest draft, or else the newest sent reminder, of whichever program: of a customer without a record they are all
// that tells of it.
OrRefusal<std::optional<item::Item>> newest_reminder(ReminderStore& store, const Keys& keys,
                                                     const std::string& customer_id);

// Audit events about the customer, oldest first; not more than 10,000 of them.
OrRefusal<std::vector<item::Item>> audit_events_of(ReminderStore& store, const Keys& keys,
                                                   const std::string& customer_id);

// Why a reminder is not sent although its customer may get others.
inline constexpr std::string_view settled_reason = "the invoices that it names are no longer overdue";
// Are these invoices of the customer known, and is none of them overdue any more? False when there are none: then what
// the customer owes as a whole decides. `settled`: one that counts as settled, whatever its record says.
OrRefusal<bool> are_settled(ReminderStore& store, const Keys& keys, const std::string& customer_id,
                            const std::vector<std::string>& invoices, const std::string& settled = {});
// Those that a draft or reminder names.
std::vector<std::string> invoices_in(const item::Item& item);

}  // namespace postino::reminders
