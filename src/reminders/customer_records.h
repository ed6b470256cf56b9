// All records of one customer, whatever they are, for export and erasure.
#pragma once

#include <functional>
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

// Audit events about the customer, oldest first; not more than 10,000 of them.
Answer<std::vector<item::Item>> audit_events_of(ReminderStore& store, const Keys& keys, const std::string& customer_id);

}  // namespace postino::reminders
