// Payment reminders: drafted, approved, sent once (docs/reminders.md). All services of the module, made together.
#pragma once

#include <memory>

#include "reminders/approvals.h"
#include "reminders/audit.h"
#include "reminders/customers.h"
#include "reminders/deliveries.h"
#include "reminders/drafts.h"
#include "reminders/erasure.h"
#include "reminders/handovers.h"
#include "reminders/history.h"
#include "reminders/imports.h"
#include "reminders/summary.h"
#include "reminders/templates.h"

namespace postino::reminders {

struct ReminderOptions {
  ReminderTables tables;
  Rules rules = Rules::usual();
  ApprovalRules approval;
  base::Milliseconds poll = std::chrono::seconds(1);  // of hand-overs and deliveries
};

class Reminders {
 public:
  // Everything given must outlive it.
  Reminders(store::Store& store, ReminderMailer& mail, const ReminderOptions& options, const base::Clock& clock,
            base::Random& random, store::Retry retry);
  ~Reminders();

  base::Result<void> prepare();  // the tables
  void start();                  // hand-overs and deliveries, on a thread of their own
  void stop();
  void wake();                                                          // look now
  void note_email(const std::string& email_id);                         // Deliveries::note(), and look now
  std::optional<std::string> why_not_send(const outbox::Email& email);  // Deliveries::why_not_send()

  void append_metrics(std::string& out) const;

  Customers& customers();
  Templates& templates();
  Drafts& drafts();
  Approvals& approvals();
  const Approvals& approvals() const;
  History& history();
  Audit& audit();
  Imports& imports();
  Erasure& erasure();
  Summary& summary();
  Handovers& handovers();
  Deliveries& deliveries();
  const Rules& rules() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace postino::reminders
