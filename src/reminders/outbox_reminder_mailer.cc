#include "reminders/outbox_reminder_mailer.h"

#include <algorithm>

#include "reminders/record/customer.h"
#include "reminders/record/sent_reminder.h"

namespace postino::reminders {

bool is_reminder(const outbox::Email& email) { return std::ranges::find(email.tags, reminder_tag) != email.tags.end(); }

base::Result<std::optional<MailedReminder>> OutboxReminderMailer::find(const std::string& email_id,
                                                                       const std::string& tenant) {
  auto shown = own_outbox().show(email_id, tenant);
  if (shown) {
    const bool may_have_gone_out = outbox::may_have_gone_out(shown->email);
    return MailedReminder{std::move(shown->email), may_have_gone_out};
  }
  if (shown.error().code == base::ErrorCode::not_found) return std::nullopt;
  return base::propagate(shown.error());
}

base::Result<bool> OutboxReminderMailer::is_suppressed(const std::string& address, const std::string& tenant) {
  return own_outbox().is_suppressed(tenant, address);
}

base::Result<std::optional<MailedReminder>> OutboxReminderMailer::cancel(const std::string& email_id,
                                                                         const std::string& tenant,
                                                                         const std::string& reason) {
  const auto cancelled = own_outbox().cancel(email_id, tenant, reason);
  if (!cancelled && cancelled.error().code == base::ErrorCode::not_found) return std::nullopt;
  // What can no longer be cancelled is refused, and stays as it is. The history tells what was before.
  if (cancelled || cancelled.error().code == base::ErrorCode::conflict) return find(email_id, tenant);
  return base::propagate(cancelled.error());
}

base::Result<bool> OutboxReminderMailer::erase(const std::string& email_id, const std::string& tenant) {
  TRY_VOID(cancel(email_id, tenant, std::string(erased_reason)));
  auto removed = own_outbox().remove_contents(email_id, tenant);
  if (!removed && removed.error().code == base::ErrorCode::not_found) return true;
  return removed;
}

}  // namespace postino::reminders
