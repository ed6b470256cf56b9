// The support desk: tickets, their feedback, events and e-mails. All services of the module, made together.
#pragma once

#include <functional>
#include <memory>

#include "support/adoption.h"
#include "support/attachments.h"
#include "support/cache.h"
#include "support/correspondence.h"
#include "support/events.h"
#include "support/feedback_records.h"
#include "support/handovers.h"
#include "support/ticket_lists.h"
#include "support/tickets.h"

namespace postino::support {

struct SupportOptions {
  SupportTables tables = {};
  LetterRules letters = {};
  AttachmentLimits attachments = {};
  objects::ObjectStore* objects = nullptr;  // for attachments; nullptr: none are taken. It must outlive the desk
  bool adopts = true;                       // completes what other programs write
  store::Lease* adoption_lease = nullptr;   // of several processes, the one that has it; nullptr: each
  base::Milliseconds poll = std::chrono::seconds(1);  // of hand-overs, and of an adoption that failed
};

class SupportDesk {
 public:
  // Everything given must outlive it.
  SupportDesk(store::Store& store, outbox::Mailer& mail, const SupportOptions& options, const base::Clock& clock,
              base::Random& random, store::Retry retry);
  ~SupportDesk();

  base::Result<void> prepare(const std::function<bool()>& wait);  // the table
  void start();                                                   // hand-overs and adoption, on threads of their own
  void stop();                                                    // it cannot be started again
  void wake();                                                    // hand over now

  Tickets& tickets();
  TicketLists& lists();
  FeedbackRecords& feedback();
  Events& events();
  Correspondence& correspondence();
  Attachments& attachments();
  Cache& cache();
  Handovers& handovers();
  Adoption& adoption();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace postino::support
