// The outbox of this server, as reminders see it.
#pragma once

#include <optional>
#include <string>

#include "outbox/mailer.h"
#include "reminders/reminder_mailer.h"

namespace postino::reminders {

// Is it the e-mail of a reminder, as far as can be told from it alone?
bool is_reminder(const outbox::Email& email);

// Safe to call from any thread.
class OutboxReminderMailer final : public outbox::OutboxMailer<ReminderMailer> {
 public:
  using OutboxMailer::OutboxMailer;

  base::Result<std::optional<MailedReminder>> find(const std::string& email_id, const std::string& tenant) override;
  base::Result<bool> is_suppressed(const std::string& address, const std::string& tenant) override;
  base::Result<std::optional<MailedReminder>> cancel(const std::string& email_id, const std::string& tenant,
                                                     const std::string& reason) override;
  base::Result<bool> erase(const std::string& email_id, const std::string& tenant) override;
};

}  // namespace postino::reminders
