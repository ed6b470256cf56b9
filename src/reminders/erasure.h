// Everything there is of one customer: to hand it out, and to remove it. Safe to call from any thread.
#pragma once

#include <string>
#include <vector>

#include "reminders/actor.h"
#include "reminders/mail_room.h"
#include "reminders/refusal.h"

namespace postino::reminders {

class ReminderStore;

struct ErasureReport {
  struct Line {
    std::string what;  // "drafts", "sent reminders", "invoices", "e-mails"
    int count = 0;
    std::string why;  // of what stays: the law; empty of what was removed
  };
  std::vector<Line> removed;
  std::vector<Line> kept;
};

class Erasure {
 public:
  Erasure(ReminderStore& store, MailRoom& mail) : store_(store), mail_(mail) {}

  // JSON: profile, invoices, drafts with revisions, sent reminders, overrides, audit events.
  Answer<std::string> export_customer(const std::string& id, const Actor& actor);
  // Can be repeated after a failure. Reminders in flight are cancelled where that is still possible. Unpaid invoices
  // are refused: wrong_state, unless `also_unpaid`. Sent reminders stay as records without text, name and address.
  Answer<ErasureReport> erase(const std::string& id, bool also_unpaid, const Actor& actor);

 private:
  ReminderStore& store_;
  MailRoom& mail_;
};

}  // namespace postino::reminders
