// Brings approved reminders to an outbox that shares no commits with the reminders' store: one look finds all that
// wait. An e-mail that the outbox has already is not given to it again, because its id is derived from the approval.
#pragma once

#include <string>

#include "base/clock.h"
#include "net/trouble.h"
#include "outbox/handover_walk.h"
#include "reminders/record/watch.h"
#include "reminders/reminder_mailer.h"
#include "reminders/reminder_store.h"

namespace postino::reminders {

class Handovers {
 public:
  Handovers(ReminderStore& store, ReminderMailer& mail) : store_(store), mail_(mail) {}

  // How many were handed over, as HandoverWalk::run() says. The log tells when an outbox is away, and when that is
  // over. An outbox that shares commits is handed nothing: only what is left of another one is looked for, until there
  // is no more, and now and then where the store is shared: another process may have another outbox. To be called by
  // one thread at a time.
  OrRefusal<int> run_once(int limit = 100);

 private:
  using Walk = outbox::HandoverWalk<Refusal>;

  Walk::Steps steps();
  OrRefusal<void> hand_over(const Handover& handover);
  // False when another has done so before.
  OrRefusal<bool> forget(const std::string& email_id);

  ReminderStore& store_;
  ReminderMailer& mail_;
  Walk walk_;
  net::LastingTrouble away_;      // with the outbox or the store as a whole
  bool nothing_is_left_ = false;  // of an outbox that shared no commits
  base::Milliseconds looked_{0};  // when that was found; monotonic
};

}  // namespace postino::reminders
