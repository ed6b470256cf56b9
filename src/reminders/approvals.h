// Approval: from a draft to an e-mail that is sent once.
//
// One commit has it all: the draft is approved, the guard has a new version, the record of the sent reminder is there,
// and the outbox has the e-mail. Where the outbox is in another database, the commit has a hand-over record instead,
// and the e-mail follows under an id that is derived from the approval (handovers.h). Safe to call from any thread.
#pragma once

#include <string>

#include "reminders/actor.h"
#include "reminders/drafts.h"
#include "reminders/record/sent_reminder.h"
#include "reminders/refusal.h"

namespace postino::reminders {

struct ApprovalRules {
  bool other_person = false;  // who made the draft, or its current revision, may not approve it
  std::string from;           // the sender's address, where the branding has none
};

class MailRoom;  // mail_room.h: the outbox as reminders see it

class Approvals {
 public:
  Approvals(ReminderStore& store, MailRoom& mail, ApprovalRules rules)
      : store_(store), mail_(mail), rules_(std::move(rules)) {}

  // `seen` is the revision that is approved, and exactly its text is sent.
  Answer<SentReminder> approve(const std::string& draft_id, int seen, const Actor& actor);

 private:
  ReminderStore& store_;
  MailRoom& mail_;
  const ApprovalRules rules_;
};

}  // namespace postino::reminders
