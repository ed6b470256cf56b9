#include "support/record/handover.h"

#include "item/fields.h"
#include "support/record/ticket_item.h"

namespace postino::support {

item::Key handover_key(const std::string& email_id) {
  return Keys::key(Keys::handover(Keys::handover_shard(email_id)), email_id);
}

item::Item handover_item(const Handover& handover) {
  item::Item item = handover_key(handover.email_id);
  if (!handover.tenant.empty()) item.set("tenant", handover.tenant);
  item.set("payload", handover.payload);
  return item;
}

base::Result<Handover> read_handover(const item::Item& item) {
  item::Fields fields(item);
  Handover handover{fields.text("SK"), fields.text("tenant"), fields.text("payload")};
  TRY_VOID(fields.check(key_text(item)));
  return handover;
}

}  // namespace postino::support
