// What was sent: to a customer, by type, in a range of dates. Newest first. Safe to call from any thread.
#pragma once

#include <optional>
#include <string>

#include "reminders/page.h"
#include "reminders/record/sent_reminder.h"
#include "reminders/refusal.h"

namespace postino::reminders {

class ReminderStore;

struct HistoryRequest {
  std::string reminder_type;             // empty: any
  std::optional<base::TimePoint> since;  // then or later
  std::optional<base::TimePoint> until;  // before
  PageRequest page;
};

class History {
 public:
  explicit History(ReminderStore& store) : store_(store) {}

  OrRefusal<Page<SentReminder>> of_customer(const std::string& customer_id, const HistoryRequest& request,
                                            const std::string& tenant);
  // Of all customers: sent ones, or those that failed.
  OrRefusal<Page<SentReminder>> sent(const HistoryRequest& request, bool failed, const std::string& tenant);
  OrRefusal<SentReminder> find(const std::string& customer_id, const std::string& id, const std::string& tenant);

 private:
  ReminderStore& store_;
};

}  // namespace postino::reminders
