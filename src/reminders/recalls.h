// Calls back reminders that were approved, and have not gone out, when their customer gets none any more, or the
// invoices that they name are no longer overdue.
//
// Whatever stops them is written first, so that nothing more is approved, and no worker begins to send what was
// (Deliveries::why_not_send()). Then the e-mails that wait are cancelled, and their records say so: they no longer
// count for the rules. A process that ends in between leaves the rest to the workers that hand e-mails over, and to
// those that follow them: they ask again whether the customer is stopped (handovers.h, deliveries.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "item/value.h"
#include "reminders/actor.h"
#include "reminders/record/watch.h"
#include "reminders/refusal.h"
#include "reminders/reminder_mailer.h"

namespace postino::reminders {

class Keys;
class ReminderStore;

// Is this draft or reminder concerned? Asked of items that have at least their keys and their invoices. Empty: all are.
using ReminderChoice = std::function<OrRefusal<bool>(const item::Item& item)>;

// Ids of sent reminders.
struct Recalled {
  std::vector<std::string> cancelled;
  // Cancelled as well, but an attempt was made before whose outcome is not known. They count for the rules.
  std::vector<std::string> perhaps_sent = {};
  // A worker has them at this moment: they may still go out.
  std::vector<std::string> being_sent = {};
  // They wait, and are called back as soon as that is possible. Workers do not send them, because the customer is
  // stopped.
  std::vector<std::string> not_recalled = {};
  std::string trouble = {};  // why not; also when it cannot be found out which ones wait

  void add(const Recalled& more);
};

enum class RecallOutcome {
  cancelled,
  perhaps_sent,
  being_sent,
  over,  // it was sent, failed or was erased before
};

// Of one reminder that waits. `reason` is for people; it is shown as the `failure` of the reminder. What has no record,
// or one that cannot be read, is called back by its e-mail.
OrRefusal<RecallOutcome> recall_reminder(ReminderStore& store, ReminderMailer& mail, const Watch& watch,
                                         const std::string& reason, const Actor& actor);

// Of those that wait for this customer and are concerned. What could not be done is told and logged, and is no error:
// what has stopped them is written.
Recalled recall_reminders(ReminderStore& store, ReminderMailer& mail, const Keys& keys, const std::string& customer_id,
                          const std::string& reason, const Actor& actor, const ReminderChoice& is_concerned = {});

}  // namespace postino::reminders
