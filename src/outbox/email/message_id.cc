#include "outbox/email/message_id.h"

#include "mail/address.h"
#include "mail/address_syntax.h"

namespace postino::outbox {

base::Result<std::string> message_id_of(const std::string& email_id, const std::string& sender,
                                        const std::string& configured_domain) {
  if (!configured_domain.empty()) return email_id + "@" + configured_domain;
  // The sender's local part may be beyond ASCII.
  TRY(const std::string address, mail::to_ascii_address("postmaster@" + mail::domain_of(sender)));
  return email_id + "@" + mail::domain_of(address);
}

}  // namespace postino::outbox
