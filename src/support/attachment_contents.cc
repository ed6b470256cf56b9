#include "support/attachment_contents.h"

#include "base/hash.h"

namespace postino::support {

base::Result<void> AttachmentContents::keep(const item::Key& owner, const std::string& bytes, Attachment& attachment) {
  const auto name =
      objects::name_for_item(attachments_kind(), table_, owner, base::make_ordered_uuid(clock_.now(), random_));
  if (!name) return base::invalid("the key of the attachment is too long for the name of an object");
  attachment.object_uri = objects::object_address(objects_.bucket(), *name);
  auto put = objects_.put(*name, bytes);
  if (!put) discard(attachment);  // it may be there all the same
  return put;
}

void AttachmentContents::discard(const Attachment& attachment) {
  const auto name = objects::name_in_address(objects_.bucket(), attachment.object_uri);
  if (name) (void)objects_.remove(*name);
}

base::Result<std::string> AttachmentContents::fetch(const item::Item& item) {
  TRY(const Attachment attachment, read_attachment_fields(item));
  const auto name = objects::object_of_item(attachments_kind(), table_, objects_.bucket(), item);
  if (!name) return base::fail(base::ErrorCode::corrupt, "the attachment refers to an object that is not its own");
  TRY(std::string bytes, objects_.get(*name));
  if (static_cast<std::int64_t>(bytes.size()) != attachment.size ||
      base::to_hex(base::sha256(bytes)) != attachment.sha256)
    return base::fail(base::ErrorCode::corrupt, "the object " + *name + " is not what was taken");
  return bytes;
}

}  // namespace postino::support
