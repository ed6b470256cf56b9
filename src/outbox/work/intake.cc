#include "outbox/work/intake.h"

#include <unistd.h>

#include "base/base64.h"
#include "mail/address_syntax.h"
#include "outbox/ledger/enclosed_file.h"

namespace postino::outbox {

base::Result<std::unique_ptr<Intake>> Intake::create(Spool& spool, const mail::DkimSigner* signer,
                                                     IntakeOptions options) {
  int attachments = -1;
  if (!options.attachment_path.empty()) {
    TRY(attachments, open_directory(options.attachment_path));
  }
  return std::unique_ptr<Intake>(new Intake(spool, signer, std::move(options), attachments));
}

Intake::~Intake() {
  if (attachments_ >= 0) close(attachments_);
}

base::Result<mail::Attachment> Intake::read_attachment(const PayloadAttachment& attachment) const {
  mail::Attachment result{attachment.name, attachment.content_type, ""};
  if (attachment.is_inline) {
    TRY(result.bytes, base::from_base64(attachment.content_base64));
    return result;
  }
  if (attachments_ < 0)
    return base::invalid("attachment " + attachment.path + ": no directory for attachments is configured");
  auto bytes = read_enclosed_file(attachments_, attachment.path, options_.max_message_bytes);
  // A file that is not there yet will not be there later: the caller said it was.
  if (!bytes && bytes.error().code == base::ErrorCode::not_found)
    return base::invalid("attachment " + attachment.path + ": there is no such file");
  if (!bytes) return base::propagate(bytes.error());
  result.bytes = std::move(*bytes);
  return result;
}

base::Result<std::string> Intake::build(const Email& email) const {
  auto text = spool_.read(email.payload_path);
  if (!text && text.error().code == base::ErrorCode::not_found)
    return base::invalid("the payload is missing from the spool");
  if (!text) return base::propagate(text.error());
  TRY(Payload payload, parse_payload(*text));
  return build(email, std::move(payload));
}

base::Result<std::string> Intake::build(const Email& email, Payload payload) const {
  mail::Message message;
  std::size_t bytes = payload.body_text.size() + payload.body_html.size();
  for (const PayloadAttachment& each : payload.attachments) {
    TRY(mail::Attachment attachment, read_attachment(each));
    bytes += attachment.bytes.size();
    if (bytes > options_.max_message_bytes)
      return base::invalid("the message would be larger than " + std::to_string(options_.max_message_bytes) + " bytes");
    message.attachments.push_back(std::move(attachment));
  }
  message.from = std::move(payload.from);
  message.reply_to = std::move(payload.reply_to);
  message.to = std::move(payload.to);
  message.cc = std::move(payload.cc);
  message.subject = std::move(payload.subject);
  message.text = std::move(payload.body_text);
  message.html = std::move(payload.body_html);
  message.headers = std::move(payload.custom_headers);
  if (!payload.unsubscribe_url.empty() || !payload.unsubscribe_mailto.empty())
    message.list_unsubscribe = {payload.unsubscribe_url, payload.unsubscribe_mailto};
  std::string domain = options_.message_id_domain;
  if (domain.empty()) {
    TRY(const std::string sender, mail::to_ascii_address(email.sender));
    domain = mail::domain_of(sender);
  }
  message.message_id = email.id + "@" + domain;
  message.date = email.created_at;
  TRY(std::string built, mail::build_message(message));
  return signer_ == nullptr ? base::Result<std::string>(std::move(built)) : signer_->sign(built);
}

Event Intake::work(const Email& email) const {
  auto message = build(email);
  if (message) return event::MessageBuilt{*std::move(message)};
  using enum base::ErrorCode;
  const base::Error& error = message.error();
  if (error.code == invalid || error.code == malformed) return event::PayloadRejected{error.message};
  return event::IntakeFailed{error.message};
}

}  // namespace postino::outbox
