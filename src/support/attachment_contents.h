// The bytes of attachments in the object store.
#pragma once

#include <string>

#include "base/random.h"
#include "objects/item_objects.h"
#include "objects/object_store.h"
#include "support/record/attachment.h"

namespace postino::support {

// Safe to use from any thread.
class AttachmentContents {
 public:
  // Of a table's items. All must outlive it.
  AttachmentContents(objects::ObjectStore& objects, objects::KeyedTable table, const base::Clock& clock,
                     base::Random& random)
      : objects_(objects), table_(std::move(table)), clock_(clock), random_(random) {}

  // Keeps the bytes for the item with this key, and notes in the attachment where. Durable when it returns; the caller
  // writes the item then. If that is refused, the caller discards them; if the caller ends, they are found after a day.
  base::Result<void> keep(const item::Key& owner, const std::string& bytes, Attachment& attachment);
  void discard(const Attachment& attachment);

  // The bytes of an attachment by its item. not_found when they are gone, corrupt when they are not what was taken, or
  // the item refers to those of another one.
  base::Result<std::string> fetch(const item::Item& item);

 private:
  objects::ObjectStore& objects_;
  const objects::KeyedTable table_;
  const base::Clock& clock_;
  base::Random& random_;
};

}  // namespace postino::support
