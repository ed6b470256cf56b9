#include "outbox/email/description.h"

namespace postino::outbox {

namespace {

// Cut before a character, not within one.
std::string beginning_of(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

}  // namespace

Description describe(const Payload& payload) {
  Description description{payload.from.address, {},
                          payload.tags,         payload.send_at,
                          payload.callback_url, beginning_of(payload.subject, most_subject_bytes)};
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
  email.subject = std::move(description.subject);
}

}  // namespace postino::outbox
