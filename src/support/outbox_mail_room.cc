#include "support/outbox_mail_room.h"

#include "mail/address.h"
#include "mail/address_syntax.h"
#include "outbox/accept_once.h"

namespace postino::support {

outbox::JoinedOutcome OutboxMailRoom::accept_with(const outbox::Payload& payload, const std::string& tenant,
                                                  std::vector<store::TransactAction> actions) {
  return outbox_.accept_with(payload, tenant, std::move(actions));
}

base::Result<void> OutboxMailRoom::accept(const outbox::Payload& payload, const std::string& tenant) {
  return outbox::accept_once(outbox_, payload, tenant);
}

std::string OutboxMailRoom::message_id_of(const std::string& email_id, const std::string& sender) const {
  if (!message_id_domain_.empty()) return email_id + "@" + message_id_domain_;
  const std::string domain = mail::domain_of(sender);
  const auto ascii = mail::to_ascii_address("postmaster@" + domain);
  return email_id + "@" + (ascii ? mail::domain_of(*ascii) : domain);
}

}  // namespace postino::support
