// Brings approved reminders to an outbox that shares no commits with the reminders' store: one look finds all that
// wait. An e-mail that the outbox has already is not given to it again, because its id is derived from the approval.
#pragma once

#include <string>

#include "reminders/mail_room.h"
#include "reminders/record/watch.h"
#include "reminders/reminder_store.h"

namespace postino::reminders {

class Handovers {
 public:
  Handovers(ReminderStore& store, MailRoom& mail) : store_(store), mail_(mail) {}

  // How many were handed over. One that cannot be now waits, and keeps no other back; the answer is its error if none
  // could.
  Answer<int> run_once(int limit = 100);

 private:
  Answer<void> hand_over(const Handover& handover);
  // False when another has done so before.
  Answer<bool> forget(const std::string& email_id);

  ReminderStore& store_;
  MailRoom& mail_;
};

}  // namespace postino::reminders
