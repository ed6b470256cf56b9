// Files that belong to tickets: what is checked before one is taken, and what is written down of it.
//
// The bytes are an object of their own (attachments/{table}/{PK}/{SK}/{version}); the item of the attachment refers to
// it by the attribute object_uri. ObjectCleaner removes the object when the item goes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "item/value.h"
#include "json/field_errors.h"
#include "objects/item_objects.h"
#include "support/record/attachment_type.h"

namespace postino::support {

// Of objects with the bytes of attachments.
const objects::ObjectKind& attachments_kind();

struct AttachmentLimits {
  std::size_t bytes = 10 << 20;         // of one
  std::size_t ticket_bytes = 50 << 20;  // of all of a ticket
  int count = 50;                       // of a ticket
  std::vector<std::string> types = usual_attachment_types();
};

// As a caller hands it in. What is not claimed is empty.
struct AttachmentUpload {
  std::string name;
  std::string content_type;
  std::optional<std::int64_t> size;
  std::string sha256;  // in hexadecimal
  std::string bytes;
};

struct Attachment {
  std::string name;          // clean
  std::string content_type;  // what it is
  std::int64_t size = 0;
  std::string sha256;      // in hexadecimal, lower case
  std::string object_uri;  // where the bytes are
  base::TimePoint uploaded_at;

  friend bool operator==(const Attachment&, const Attachment&) = default;
};

// How much a ticket has already.
struct AttachmentTotals {
  int count = 0;
  std::int64_t bytes = 0;
};

// May one of this size come to those that a ticket has?
base::Result<void, json::FieldError> check_attachment_room(std::int64_t size, const AttachmentTotals& had,
                                                           const AttachmentLimits& limits);

// The attachment without its place, if it may be taken. Otherwise the first field that breaks a rule: name,
// content_type, size, sha256, content.
base::Result<Attachment, json::FieldError> check_attachment(const AttachmentUpload& upload, const AttachmentTotals& had,
                                                            const AttachmentLimits& limits, base::TimePoint now);

// What its item has beside keys: name, content_type, size, sha256, object_uri, uploaded_at.
item::Map attachment_fields(const Attachment& attachment);
// corrupt, with the attribute, when one is missing or of another type.
base::Result<Attachment> read_attachment_fields(const item::Map& item);

// How it is served: never shown by the browser itself, and never taken for another type.
std::vector<std::pair<std::string, std::string>> download_headers(const Attachment& attachment);

}  // namespace postino::support
