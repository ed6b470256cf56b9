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
Answer<void> read_partition(ReminderStore& store, const Keys& keys, const std::string& customer_id,
                            const std::string& sort_begin,
                            const std::function<Answer<void>(std::vector<item::Item>)>& take);

// The newest draft, or else the newest sent reminder, of whichever program: of a customer without a record they are all
// that tells of it.
Answer<std::optional<item::Item>> newest_reminder(ReminderStore& store, const Keys& keys,
                                                  const std::string& customer_id);

// Audit events about the customer, oldest first; not more than 10,000 of them.
Answer<std::vector<item::Item>> audit_events_of(ReminderStore& store, const Keys& keys, const std::string& customer_id);

}  // namespace postino::reminders
