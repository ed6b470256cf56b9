// Approval: from a draft to an e-mail that is sent once.
//
// One commit has it all: the draft is approved, the guard has a new version, the record of the sent reminder is there,
// and the outbox has the e-mail. Where the outbox is in another database, the commit has a hand-over record instead,
// and the e-mail follows under an id that is derived from the approval (handovers.h). Safe to call from any thread.
#pragma once

#include <functional>
#include <string>

#include "reminders/actor.h"
#include "reminders/customers.h"
#include "reminders/drafts.h"
#include "reminders/record/draft.h"
#include "reminders/record/sent_reminder.h"
#include "reminders/refusal.h"
#include "reminders/reminder_mailer.h"
#include "reminders/standing.h"

namespace postino::reminders {

struct ApprovalRules {
  // Who made the draft, or its current revision, may not approve it: neither the person nor the API key. Names are
  // compared as people read them: "Anna" is "anna ". What was made without a name and a key is refused as well.
  bool other_person = false;
  std::string from;  // the sender's address, where the draft has none of its branding
  // Does the machine's clock contradict the one that is followed? Empty: that is not known.
  std::function<bool()> is_clock_contradicted = {};
};

class Approvals {
 public:
  Approvals(ReminderStore& store, Customers& customers, ReminderMailer& mail, ApprovalRules rules)
      : store_(store), customers_(customers), mail_(mail), rules_(std::move(rules)) {}

  // `seen` is the revision that is approved, and exactly its text is sent. The actor must be known.
  OrRefusal<SentReminder> approve(const std::string& draft_id, int seen, const Actor& actor);

  // What is missing, and who can mend it, when nothing says which address the draft would come from; empty: nothing.
  std::string missing_sender(const Draft& draft) const;

 private:
  // An attempt may have to be repeated: others have changed what it rested on.
  struct Attempt;
  enum class Outcome { done, again };

  OrRefusal<Outcome> try_once(Attempt& attempt);
  OrRefusal<void> check(const Attempt& attempt, const Draft& draft) const;
  OrRefusal<Outcome> commit(Attempt& attempt, const StoredDraft& stored, const Standing& standing);
  // `record` is the place of the sent reminder in the commit.
  OrRefusal<Outcome> write_joined(Attempt& attempt, const outbox::Payload& payload, Commit commit, std::size_t record);
  OrRefusal<Outcome> write_alone(Attempt& attempt, Commit commit, std::size_t record);
  OrRefusal<Outcome> after_conditions(Attempt& attempt, const std::vector<std::size_t>& failed, std::size_t record);
  OrRefusal<Outcome> after_failure(Attempt& attempt, Refusal refusal);
  OrRefusal<bool> is_done(Attempt& attempt);

  ReminderStore& store_;
  Customers& customers_;
  ReminderMailer& mail_;
  const ApprovalRules rules_;
};

}  // namespace postino::reminders
