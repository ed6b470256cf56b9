// The outbox, as reminders see it: an e-mail goes in together with a commit of theirs if that is possible, and what has
// become of it can be asked. app connects the two; tests have one of their own.
#pragma once

#include <optional>
#include <string>

#include "outbox/mailer.h"

namespace postino::reminders {

// An e-mail as the outbox has it now.
struct MailedReminder : outbox::Email {
  // Of one that was cancelled or has failed: a worker was at it before, and what became of that is not known.
  bool may_have_gone_out = false;
};

class ReminderMailer : public outbox::Mailer {
 public:
  virtual base::Result<std::optional<MailedReminder>> find(const std::string& email_id, const std::string& tenant) = 0;
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
