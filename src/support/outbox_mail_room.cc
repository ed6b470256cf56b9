#include "support/outbox_mail_room.h"

#include "mail/address.h"
#include "mail/address_syntax.h"

namespace postino::support {

outbox::JoinedOutcome OutboxMailRoom::accept_with(const outbox::Payload& payload, const std::string& tenant,
                                                  std::vector<store::TransactAction> actions) {
  return outbox_.accept_with(payload, tenant, std::move(actions));
}

base::Result<void> OutboxMailRoom::accept(const outbox::Payload& payload, const std::string& tenant) {
  using outbox::AcceptError;
  using outbox::AcceptStatus;
  TRY(const outbox::AcceptAnswer answer, outbox_.accept({payload}, tenant, std::nullopt, {}));
  if (answer.status == AcceptStatus::no_room)
    return base::fail(base::ErrorCode::exhausted, "there is no room in memory for the e-mail");
  if (answer.status == AcceptStatus::unknown)
    return base::fail(base::ErrorCode::io, "the outbox failed while the e-mail was written");
  const outbox::AcceptOutcome& outcome = answer.outcomes.front();
  if (!outcome.error || *outcome.error == AcceptError::duplicated_id) return {};
  return base::fail(*outcome.error == AcceptError::unknown ? base::ErrorCode::io : base::ErrorCode::exhausted,
                    outcome.message);
}

std::string OutboxMailRoom::message_id_of(const std::string& email_id, const std::string& sender) const {
  if (!message_id_domain_.empty()) return email_id + "@" + message_id_domain_;
  const std::string domain = mail::domain_of(sender);
  const auto ascii = mail::to_ascii_address("postmaster@" + domain);
  return email_id + "@" + (ascii ? mail::domain_of(*ascii) : domain);
}

}  // namespace postino::support
