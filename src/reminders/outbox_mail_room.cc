#include "reminders/outbox_mail_room.h"

#include <algorithm>

#include "mail/address.h"
#include "mail/address_syntax.h"
#include "outbox/accept_once.h"
#include "reminders/record/sent_reminder.h"

namespace postino::reminders {

bool is_reminder(const outbox::Email& email) { return std::ranges::find(email.tags, reminder_tag) != email.tags.end(); }

outbox::JoinedOutcome OutboxMailRoom::accept_with(const outbox::Payload& payload, const std::string& tenant,
                                                  std::vector<store::TransactAction> actions) {
  return outbox_.accept_with(payload, tenant, std::move(actions));
}

base::Result<void> OutboxMailRoom::accept(const outbox::Payload& payload, const std::string& tenant) {
  return outbox::accept_once(outbox_, payload, tenant);
}

base::Result<std::optional<MailedReminder>> OutboxMailRoom::find(const std::string& email_id,
                                                                 const std::string& tenant) {
  auto shown = outbox_.show(email_id, tenant);
  if (shown) {
    const bool may_have_gone_out = outbox::may_have_gone_out(*shown);
    return MailedReminder{std::move(shown->email), may_have_gone_out};
  }
  if (shown.error().code == base::ErrorCode::not_found) return std::nullopt;
  return base::propagate(shown.error());
}

std::string OutboxMailRoom::message_id_of(const std::string& email_id, const std::string& sender) const {
  if (!message_id_domain_.empty()) return email_id + "@" + message_id_domain_;
  const std::string domain = mail::domain_of(sender);
  const auto ascii = mail::to_ascii_address("postmaster@" + domain);
  return email_id + "@" + (ascii ? mail::domain_of(*ascii) : domain);
}

base::Result<bool> OutboxMailRoom::is_suppressed(const std::string& address, const std::string& tenant) {
  return outbox_.is_suppressed(tenant, address);
}

base::Result<std::optional<MailedReminder>> OutboxMailRoom::cancel(const std::string& email_id,
                                                                   const std::string& tenant,
                                                                   const std::string& reason) {
  const auto cancelled = outbox_.cancel(email_id, tenant, reason);
  if (!cancelled && cancelled.error().code == base::ErrorCode::not_found) return std::nullopt;
  // What can no longer be cancelled is refused, and stays as it is. The history tells what was before.
  if (cancelled || cancelled.error().code == base::ErrorCode::conflict) return find(email_id, tenant);
  return base::propagate(cancelled.error());
}

base::Result<bool> OutboxMailRoom::erase(const std::string& email_id, const std::string& tenant) {
  TRY_VOID(cancel(email_id, tenant, "the customer's data was erased"));
  auto removed = outbox_.remove_contents(email_id, tenant);
  if (!removed && removed.error().code == base::ErrorCode::not_found) return true;
  return removed;
}

}  // namespace postino::reminders
