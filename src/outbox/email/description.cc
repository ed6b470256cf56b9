#include "outbox/email/description.h"

namespace postino::outbox {

Description describe(const Payload& payload) {
  Description description{payload.from.address, {}, payload.tags, payload.send_at, payload.callback_url};
  for (const auto* group : {&payload.to, &payload.cc, &payload.bcc})
    for (const mail::Mailbox& mailbox : *group) description.recipients.push_back({mailbox.address, {}, ""});
  return description;
}

void fill_in(Email& email, Description description) {
  email.sender = std::move(description.sender);
  email.recipients = std::move(description.recipients);
  email.tags = std::move(description.tags);
  email.send_at = description.send_at;
  email.callback_url = std::move(description.callback_url);
}

}  // namespace postino::outbox
