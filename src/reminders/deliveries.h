// Looks what has become of reminders in the outbox, and writes it down: sent, failed, bounced. One that failed for good
// no longer counts for the rules. Looks at each again after growing pauses, as long as something may happen to it.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "reminders/customers.h"
#include "reminders/mail_room.h"
#include "reminders/reminder_store.h"

namespace postino::reminders {

class Deliveries {
 public:
  Deliveries(ReminderStore& store, Customers& customers, MailRoom& mail)
      : store_(store), customers_(customers), mail_(mail) {}

  // Something has happened to this e-mail: the next run looks at it. Does not wait. For e-mails of all kinds.
  void note(const std::string& email_id);
  // Looks at those that are noted or due. How many records were changed.
  Answer<int> run_once(int limit = 100);

 private:
  ReminderStore& store_;
  Customers& customers_;
  MailRoom& mail_;
  std::mutex mutex_;
  std::set<std::string> noted_;
};

}  // namespace postino::reminders
