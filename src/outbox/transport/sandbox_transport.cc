#include "outbox/transport/sandbox_transport.h"

#include "mail/subject.h"

namespace postino::outbox {

smtp::SendResult SandboxTransport::deliver(const Delivery& delivery, const smtp::Session::BeforeEnd&) {
  MailboxEntry entry;
  entry.id = delivery.email.id;
  entry.accepted = delivery.email.created_at;
  entry.received = clock_.now();
  entry.sender = delivery.envelope.sender;
  entry.recipients = delivery.envelope.recipients;
  entry.subject = mail::subject_of(delivery.message);
  entry.size = static_cast<std::int64_t>(delivery.message.size());
  const auto stored = mailbox_.put(entry, delivery.email.message_path, kept_from(delivery.email) + keep_);
  smtp::SendResult result;
  result.severity = stored ? smtp::Severity::success : smtp::Severity::temporary;
  result.reply.code = stored ? 250 : 451;
  result.reply.text = stored ? "250 2.0.0 kept in the sandbox" : "451 4.3.0 " + stored.error().message;
  for (const std::string& address : delivery.envelope.recipients)
    result.recipients.push_back({address, result.severity, result.reply});
  return result;
}

}  // namespace postino::outbox
