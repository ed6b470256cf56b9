#include "support/record/attachment.h"

#include "base/hash.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "item/attribute_text.h"
#include "objects/large_attributes.h"
#include "support/record/attachment_name.h"

namespace postino::support {

namespace {

tl::unexpected<json::FieldError> broken(std::string field, std::string rule) {
  return tl::unexpected<json::FieldError>(json::FieldError{std::move(field), std::move(rule)});
}

// A name in a header: ASCII for old clients, and UTF-8 in the form of RFC 6266.
std::string disposition(const std::string& name) {
  std::string plain;
  for (const char letter : name)
    if (base::starts_character(letter)) plain += base::is_printable_ascii(letter) && letter != '"' ? letter : '_';
  return "attachment; filename=\"" + plain + "\"; filename*=UTF-8''" + base::encode_percent(name);
}

}  // namespace

const objects::ObjectKind& attachments_kind() {
  static const objects::ObjectKind kind{"attachments", "object_uri", ""};
  return kind;
}

base::Result<void, json::FieldError> check_attachment_room(std::int64_t size, const AttachmentTotals& had,
                                                           const AttachmentLimits& limits) {
  if (had.count >= limits.count)
    return broken("attachments", "must be at most " + std::to_string(limits.count) + " for one ticket");
  if (had.bytes + size > static_cast<std::int64_t>(limits.ticket_bytes))
    return broken("content", "must have at most " + std::to_string(limits.ticket_bytes) +
                                 " bytes together with the other attachments of the ticket, which have " +
                                 std::to_string(had.bytes));
  return {};
}

base::Result<Attachment, json::FieldError> check_attachment(const AttachmentUpload& upload, const AttachmentTotals& had,
                                                            const AttachmentLimits& limits, base::TimePoint now) {
  Attachment attachment;
  attachment.uploaded_at = now;
  attachment.size = static_cast<std::int64_t>(upload.bytes.size());
  if (upload.bytes.empty()) return broken("content", "must not be empty");
  if (upload.bytes.size() > limits.bytes)
    return broken("content", "must have at most " + std::to_string(limits.bytes) + " bytes");
  TRY_VOID(check_attachment_room(attachment.size, had, limits));
  if (upload.size && *upload.size != attachment.size)
    return broken("size", "must be the size of the content: " + std::to_string(attachment.size));
  attachment.sha256 = base::to_hex(base::sha256(upload.bytes));
  if (!upload.sha256.empty() && !base::equal_ignoring_case(upload.sha256, attachment.sha256))
    return broken("sha256", "must be the SHA-256 of the content in hexadecimal");
  auto name = clean_attachment_name(upload.name);
  if (!name) return broken("name", name.error().message);
  if (is_name_of_program(*name)) return broken("name", "must not be that of a program, a script or a web page");
  auto type = decide_content_type(upload.bytes, *name, upload.content_type, limits.types);
  if (!type) return broken("content_type", type.error().message);
  attachment.name = *std::move(name);
  attachment.content_type = *std::move(type);
  return attachment;
}

item::Map attachment_fields(const Attachment& attachment) {
  return {{"name", attachment.name},
          {"content_type", attachment.content_type},
          {"size", attachment.size},
          {"sha256", attachment.sha256},
          {attachments_kind().attribute, attachment.object_uri},
          {"uploaded_at", base::format_timestamp(attachment.uploaded_at)}};
}

base::Result<Attachment> read_attachment_fields(const item::Map& item) {
  TRY_VOID(objects::check_whole(item));
  const auto lacking = [](const std::string& name) {
    return base::fail(base::ErrorCode::corrupt, "the attribute " + name + " of an attachment cannot be read");
  };
  Attachment attachment;
  for (const auto& [name, place] :
       {std::pair("name", &attachment.name), std::pair("content_type", &attachment.content_type),
        std::pair("sha256", &attachment.sha256), std::pair("object_uri", &attachment.object_uri)}) {
    *place = item::attribute_text(item, name);
    if (place->empty()) return lacking(name);
  }
  const item::AttributeValue* size = item.find("size");
  const auto* number = size != nullptr ? size->get_if<item::Number>() : nullptr;
  const auto whole = number != nullptr ? number->to_int64() : std::nullopt;
  if (!whole || *whole < 0) return lacking("size");
  attachment.size = *whole;
  const auto time = base::parse_timestamp(item::attribute_text(item, "uploaded_at"));
  if (!time) return lacking("uploaded_at");
  attachment.uploaded_at = *time;
  return attachment;
}

std::vector<std::pair<std::string, std::string>> download_headers(const Attachment& attachment) {
  return {{"Content-Type", attachment.content_type},
          {"Content-Disposition", disposition(attachment.name)},
          {"X-Content-Type-Options", "nosniff"},
          {"Content-Security-Policy", "default-src 'none'; sandbox"}};
}

}  // namespace postino::support
