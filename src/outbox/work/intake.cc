#include "outbox/work/intake.h"

#include "base/base64.h"
#include "base/check.h"
#include "outbox/email/message_id.h"

namespace postino::outbox {

namespace {

// What building takes. In sizes of the payload: its text, the parser's copy, its strings and the payload that is made
// of them; later the attachments in it, and the message that grows, which may have three bytes for one of the text.
constexpr std::size_t payload_factor = 6;
// In sizes of the files: themselves, the message, which is a third larger, and its copy when it grows or is signed.
constexpr std::size_t file_factor = 4;
// And then in sizes of the message: itself, and the copy that the ledger writes.
constexpr std::size_t writing_factor = 2;

}  // namespace

base::Result<std::unique_ptr<Intake>> Intake::create(Spool& spool, const mail::DkimSigner* signer,
                                                     IntakeOptions options, MissingContents* missing) {
  base::Descriptor attachments;
  if (!options.attachment_path.empty()) {
    TRY(attachments, objects::open_directory(options.attachment_path));
  }
  return std::unique_ptr<Intake>(new Intake(spool, signer, std::move(options), std::move(attachments), missing));
}

tl::unexpected<base::Error> Intake::too_large() const {
  return base::invalid("the message would be larger than " + std::to_string(options_.max_message_bytes) + " bytes");
}

base::Result<Intake::Files> Intake::open_files(const Payload& payload) const {
  Files files;
  std::size_t bytes = payload.body_text.size() + payload.body_html.size();
  for (const PayloadAttachment& attachment : payload.attachments) {
    if (attachment.is_inline) continue;
    if (!attachments_)
      return base::invalid("attachment " + attachment.path + ": no directory for attachments is configured");
    auto file = objects::open_enclosed_file(attachments_.number(), attachment.path, options_.max_message_bytes);
    // A file that is not there yet will not be there later: the caller said it was.
    if (!file && file.error().code == base::ErrorCode::not_found)
      return base::invalid("attachment " + attachment.path + ": there is no such file");
    if (!file) return base::propagate(file.error());
    bytes += file->size;
    if (bytes > options_.max_message_bytes) return too_large();
    files.push_back(*std::move(file));
  }
  return files;
}

// What was read is gone from the payload.
base::Result<std::vector<mail::Attachment>> Intake::read_attachments(Payload& payload, Files files) const {
  std::vector<mail::Attachment> attachments;
  std::size_t bytes = payload.body_text.size() + payload.body_html.size();
  auto file = files.begin();
  for (PayloadAttachment& each : payload.attachments) {
    mail::Attachment attachment{each.name, each.content_type, ""};
    if (each.is_inline) {
      const std::string text = std::move(each.content_base64);
      TRY(attachment.bytes, base::from_base64(text));
    } else {
      CHECK(file != files.end());
      TRY(attachment.bytes, objects::read_file(*file++));
    }
    bytes += attachment.bytes.size();
    if (bytes > options_.max_message_bytes) return too_large();
    attachments.push_back(std::move(attachment));
  }
  return attachments;
}

base::Result<Payload> Intake::read_payload_of(const Email& email, MessageRoom& room, std::size_t& bytes) const {
  const auto text = read_contents(spool_, SpoolKind::payload, email.id, email.payload_path,
                                  [&](std::size_t size) { return room.take(payload_factor * size); });
  if (!text) return base::propagate(text.error());
  if (missing_ != nullptr) missing_->found(email.id);
  bytes = text->size();
  return parse_payload(*text);
}

base::Result<std::string> Intake::build(const Email& email, MessageRoom& room) const {
  std::size_t bytes = 0;  // of the payload
  TRY(Payload payload, read_payload_of(email, room, bytes));
  TRY(Files files, open_files(payload));
  std::size_t file_bytes = 0;
  for (const objects::EnclosedFile& file : files) file_bytes += file.size;
  if (!room.take(payload_factor * bytes + file_factor * file_bytes))
    return base::fail(base::ErrorCode::exhausted, "there is no room in memory for the attachments");
  return compose(email, std::move(payload), std::move(files));
}

base::Result<std::string> Intake::compose(const Email& email, Payload payload, Files files) const {
  mail::Message message;
  TRY(message.attachments, read_attachments(payload, std::move(files)));
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
  TRY(message.message_id, message_id_of(email.id, email.sender, options_.message_id_domain));
  message.date = tried_from(email);  // a scheduled one is of the day it is sent on
  TRY(std::string built, mail::build_message(message));
  return signer_ == nullptr ? base::Result<std::string>(std::move(built)) : signer_->sign(built);
}

std::optional<Event> Intake::work(const Email& email, MessageRoom& room) const {
  auto message = build(email, room);
  if (!message && message.error().code == base::ErrorCode::exhausted && room.is_waiting()) return std::nullopt;
  room.shrink_to(message ? writing_factor * message->size() : 0);
  if (message) return event::MessageBuilt{*std::move(message)};
  using enum base::ErrorCode;
  const base::Error& error = message.error();
  if (error.code == invalid || error.code == malformed) return event::PayloadRejected{error.message};
  // What is not whole does not become so later. Where it is kept is not for callers to know.
  if (error.code == corrupt) return event::PayloadRejected{error.message, true};
  // It may be in the spool that another server uses, or be restored. Files of attachments are not meant.
  if (error.code == not_found && missing_ != nullptr) missing_->miss(email.id, error.message);
  return event::IntakeFailed{error.message, error.code == not_found};
}

}  // namespace postino::outbox
