// Everything there is of one customer: to hand it out, and to remove it. Safe to call from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reminders/actor.h"
#include "reminders/refusal.h"
#include "reminders/reminder_mailer.h"

namespace postino::reminders {

class Keys;
class ReminderStore;
struct ErasedCustomer;

struct ErasureReport {
  struct Line {
    std::string what;        // "drafts", "sent reminders", "invoices", "e-mails"
    std::int64_t count = 0;  // 0: not counted
    std::string why;         // of what stays: the law; empty of what was removed
  };
  // Of what stays: those that a mail server, or the sandbox, has got.
  static constexpr std::string_view sent_emails = "records of e-mails that were sent";

  std::vector<Line> removed;
  std::vector<Line> kept;
};

class Erasure {
 public:
  static constexpr std::size_t max_export_bytes = 64 << 20;

  Erasure(ReminderStore& store, ReminderMailer& mail) : store_(store), mail_(mail) {}

  // JSON: profile, objection, invoices, drafts and their revisions, sent reminders, overrides, audit events: every
  // attribute of every record. Also of customers that other programs have written without a profile.
  OrRefusal<std::string> export_customer(const std::string& id, const Actor& actor);

  // First the customer is removed, so that nothing more is drafted or approved, then what waits is called back
  // (recalls.h), then e-mails, texts and records. Can be
  // repeated after a failure at any step, and the refusal says so: it goes on where it was, and the report counts all
  // of it. Once it is finished the same report is answered again. Reminders that wait in the outbox are cancelled. One
  // that is being sent at this moment cannot be: busy, and to be repeated. Unpaid invoices are refused: wrong_state,
  // unless `also_unpaid`. Sent reminders stay as records without text, name and address, and without whatever other
  // programs added to them.
  OrRefusal<ErasureReport> erase(const std::string& id, bool also_unpaid, const Actor& actor);

  // Goes on with erasures that were interrupted, a minute after they began and each minute from then on. How many were
  // finished. One that cannot be waits, and keeps no other back.
  OrRefusal<int> run_once(int limit = 100);

 private:
  // Of one that was interrupted: false when it could not be finished now.
  OrRefusal<bool> go_on(const item::Item& listed);
  // Removes the customer, or finds that this was done before.
  OrRefusal<ErasedCustomer> begin(const Keys& keys, const std::string& id, bool also_unpaid, const Actor& actor);
  // All that comes after it.
  OrRefusal<ErasureReport> finish(const Keys& keys, const std::string& id, const ErasedCustomer& erased,
                                  const Actor& actor);
  OrRefusal<void> begin_now(const Keys& keys, const std::string& id, const item::Item* profile, const Actor& actor);
  // How many e-mails are being sent.
  OrRefusal<int> erase_sent(const Keys& keys, const std::string& id);
  OrRefusal<void> erase_records(const Keys& keys, const std::string& id);
  struct KeptReminders {
    std::int64_t sent = 0;
    std::int64_t others = 0;  // that failed or were cancelled
    std::int64_t sent_emails = 0;
    std::int64_t other_emails = 0;
    std::int64_t watches = 0;
  };
  OrRefusal<KeptReminders> kept_reminders(const Keys& keys, const std::string& id);
  OrRefusal<ErasureReport> report(const Keys& keys, const std::string& id);

  ReminderStore& store_;
  ReminderMailer& mail_;
};

}  // namespace postino::reminders
