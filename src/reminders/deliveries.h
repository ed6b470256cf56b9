// Looks what has become of reminders in the outbox, and writes it down: sent, failed, bounced. One that failed for good
// no longer counts for the rules. Looks at each again after growing pauses, as long as something may happen to it. One
// that waits although its customer gets no reminders any more is called back (recalls.h), and is not sent.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "net/trouble.h"
#include "reminders/customers.h"
#include "reminders/record/sent_reminder.h"
#include "reminders/record/watch.h"
#include "reminders/reminder_mailer.h"
#include "reminders/reminder_store.h"

namespace postino::reminders {

// What the outbox says of the e-mail, as the record has it.
SentReminder as_delivered(const SentReminder& before, const MailedReminder& email);

// Writes into the record of a reminder what has become of it, and all that follows from it: the guard, the audit, the
// counts. In one commit with what `commit` has already. busy when others have changed the record meanwhile. `reason`
// goes into the audit: words of ours alone, not those of mail servers. `bounced`: with these words the e-mail came back
// for good, which the customer's record counts in the same commit, so that of several processes one does.
OrRefusal<void> write_delivery(ReminderStore& store, const Watch& watch, const SentReminder& before,
                               const SentReminder& after, const Actor& actor, Commit commit,
                               const std::string& reason = {}, const std::string& bounced = {});

class Deliveries {
 public:
  Deliveries(ReminderStore& store, Customers& customers, ReminderMailer& mail)
      : store_(store), customers_(customers), mail_(mail) {}

  // Something has happened to this e-mail: the next run looks at it. Does not wait. For e-mails of all kinds.
  void note(const std::string& email_id);
  // Looks at those that are noted or due. How many records were changed. One that cannot be looked at keeps no other
  // back; the answer is its error if none could. The log tells when nothing can be written down, and when it can again.
  // To be called by one thread at a time.
  OrRefusal<int> run_once(int limit = 100);

  // For the workers that send, before each attempt: why the e-mail must not go out now. Of a reminder whose customer
  // gets none any more, or that was cancelled; and as long as that cannot be found out. Nothing for e-mails of other
  // kinds. Safe to call from any thread.
  std::optional<std::string> why_not_send(const outbox::Email& email);

  // May an operator queue this e-mail again? wrong_state for that of a reminder that no longer counts: another one may
  // have taken its place. stopped when its customer gets no reminders any more. E-mails of other kinds may.
  OrRefusal<void> check_requeue(const std::string& email_id);

 private:
  // `cause`: what is wrong with the outbox or the store as a whole, if anything is.
  OrRefusal<int> look_at_all(int limit, std::string& cause);
  // Those that are due, up to `limit` of each shard.
  OrRefusal<void> add_due(std::set<std::string>& ids, int limit);
  OrRefusal<void> take_out(const item::Item& item, const base::Error& cause);
  OrRefusal<void> put_off(const std::string& email_id);
  // True when its record was changed.
  OrRefusal<bool> look(const Watch& watch);
  OrRefusal<bool> look_at(const std::string& email_id);
  // Of a customer who was stopped, or has paid these invoices, since it was approved: true when it is cancelled now.
  OrRefusal<bool> call_back(const Watch& watch, const std::vector<std::string>& invoices);
  // `waits`: the outbox has not finished with the e-mail.
  OrRefusal<void> look_later(Watch watch, bool waits);
  OrRefusal<std::string> find_objection(const outbox::Email& email);

  ReminderStore& store_;
  Customers& customers_;
  ReminderMailer& mail_;
  net::LastingTrouble trouble_;
  std::mutex mutex_;
  std::set<std::string> noted_;
};

}  // namespace postino::reminders
