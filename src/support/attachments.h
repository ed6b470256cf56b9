// Files that belong to tickets: taken, listed, fetched and removed. Safe to call from any thread.
//
// The bytes are written to the object store before the item that refers to them. Each upload and each removal is a
// change of its ticket with an event, so that no two of them overlook each other: the limits of a ticket hold.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "objects/object_store.h"
#include "support/attachment_contents.h"
#include "support/ticket_store.h"
#include "support/ticket_writer.h"

namespace postino::support {

struct KeptAttachment {
  std::string ticket_id;
  std::string id;  // a UUID that begins with the time, so that they sort by age
  std::string by;  // who brought it; customers are not told
  Attachment attachment;
};

struct FetchedAttachment {
  KeptAttachment kept;
  std::string bytes;
};

class Attachments {
 public:
  // Without an object store no file is taken. It must outlive this.
  Attachments(TicketStore& store, TicketWriter& writer, objects::ObjectStore* objects, AttachmentLimits limits);

  // invalid when it breaks a rule, also when it is not what it claims to be: name, content_type, size, sha256, content.
  OrRefusal<KeptAttachment> add(const std::string& ticket_id, const AttachmentUpload& upload, const Actor& actor);
  // All of a ticket, oldest first: there are few.
  OrRefusal<std::vector<KeptAttachment>> list(const std::string& ticket_id, const Actor& actor);
  // unknown_attachment when the ticket has none with this id.
  OrRefusal<KeptAttachment> find(const std::string& ticket_id, const std::string& id, const Actor& actor);
  OrRefusal<FetchedAttachment> fetch(const std::string& ticket_id, const std::string& id, const Actor& actor);
  // The bytes go a little later, by the change stream.
  OrRefusal<void> remove(const std::string& ticket_id, const std::string& id, const Actor& actor);

  const AttachmentLimits& limits() const { return limits_; }

 private:
  OrRefusal<item::Item> item_of(const std::string& ticket_id, const std::string& id, const Actor& actor);
  OrRefusal<AttachmentTotals> totals(const Keys& keys, const std::string& ticket_id);
  OrRefusal<std::vector<item::Item>> items(const Keys& keys, const std::string& ticket_id);

  TicketStore& store_;
  TicketWriter& writer_;
  std::optional<AttachmentContents> contents_;
  const AttachmentLimits limits_;
};

}  // namespace postino::support
