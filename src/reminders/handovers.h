// Brings approved reminders to an outbox that shares no commits with the reminders' store: one look finds all that
// wait. An e-mail that the outbox has already is not given to it again, because its id is derived from the approval.
#pragma once

#include <string>

#include "reminders/mail_room.h"
#include "reminders/reminder_store.h"

namespace postino::reminders {

class Handovers {
 public:
  Handovers(ReminderStore& store, MailRoom& mail) : store_(store), mail_(mail) {}

  // The item of one that waits.
  static item::Item record(const Keys& keys, const outbox::Payload& payload, const std::string& tenant);
  // How many were handed over.
  Answer<int> run_once(int limit = 100);

 private:
  ReminderStore& store_;
  MailRoom& mail_;
};

}  // namespace postino::reminders
