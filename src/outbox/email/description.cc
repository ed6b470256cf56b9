#include "outbox/email/description.h"

namespace postino::outbox {

void describe(Email& email, const Payload& payload) {
  email.send_at = payload.send_at;
  email.callback_url = payload.callback_url;
  email.tags = payload.tags;
  email.sender = payload.from.address;
  email.recipients.clear();
  for (const auto* group : {&payload.to, &payload.cc, &payload.bcc})
    for (const mail::Mailbox& mailbox : *group) email.recipients.push_back({mailbox.address, {}, ""});
}

}  // namespace postino::outbox
