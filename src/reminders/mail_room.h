// The outbox, as reminders see it: an e-mail goes in together with a commit of theirs if that is possible, and what has
// become of it can be asked. app connects the two; tests have one of their own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "outbox/outbox.h"
#include "store/transaction.h"

namespace postino::reminders {

// An e-mail as the outbox has it now.
struct MailedReminder : outbox::Email {
  // Of one that was cancelled or has failed: a worker was at it before, and what became of that is not known.
  bool may_have_gone_out = false;
};

class MailRoom {
 public:
  virtual ~MailRoom() = default;

  // Can an e-mail be accepted in one commit with items of the reminders' store?
  virtual bool shares_commits() const = 0;
  // In one commit with these actions, whose conditions count: reasons of a cancelled transaction begin with those of
  // `actions`, in their order.
  virtual outbox::JoinedOutcome accept_with(const outbox::Payload& payload, const std::string& tenant,
                                            std::vector<store::TransactAction> actions) = 0;
  // By itself. This e-mail is there already: a success. Another one has its id: corrupt.
  virtual base::Result<void> accept(const outbox::Payload& payload, const std::string& tenant) = 0;

  virtual base::Result<std::optional<MailedReminder>> find(const std::string& email_id, const std::string& tenant) = 0;
  // The Message-ID of an e-mail from this address, without angle brackets.
  virtual std::string message_id_of(const std::string& email_id, const std::string& sender) const = 0;
  virtual base::Result<bool> is_suppressed(const std::string& address, const std::string& tenant) = 0;
  // If it has not gone out, and no worker has it. The e-mail as it is then; nullopt: there is none.
  virtual base::Result<std::optional<MailedReminder>> cancel(const std::string& email_id, const std::string& tenant,
                                                             const std::string& reason) = 0;
  // For erasure: an e-mail that has not gone out is cancelled, and the contents of one that is finished are removed
  // from the spool. True when nothing of it is left to be removed: false while it is being sent, so that it is to be
  // tried again.
  virtual base::Result<bool> erase(const std::string& email_id, const std::string& tenant) = 0;
};

}  // namespace postino::reminders
