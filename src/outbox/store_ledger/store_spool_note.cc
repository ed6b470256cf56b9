// Which spool outside of the store all processes use: an item of the table of e-mails.
#include "outbox/store_ledger/store_layout.h"
#include "outbox/store_ledger/store_ledger.h"

namespace postino::outbox {

namespace {

std::string noted_text(const item::Item& item, std::string_view name) {
  const item::AttributeValue* value = item.find(name);
  const auto* text = value != nullptr ? value->get_if<std::string>() : nullptr;
  return text != nullptr ? *text : "";
}

}  // namespace

base::Result<SpoolNote> StoreLedger::noted_spool() {
  store::GetItemRequest request;
  request.table_name = tables_.emails;
  request.key = spool_note_key();
  request.consistent_read = true;
  const auto found = retry_([&] { return store_.get_item(request); });
  if (!found) return base::propagate(store::as_error(found.error()));
  if (!found->item) return SpoolNote();
  return SpoolNote{noted_text(*found->item, "spool"), noted_text(*found->item, "place")};
}

base::Result<void> StoreLedger::note_spool(const SpoolNote& spool, const std::string& replaced) {
  store::UpdateItemRequest update;
  update.table_name = tables_.emails;
  update.key = spool_note_key();
  update.update = "SET spool = :id, place = :place";
  update.condition = "attribute_not_exists(spool) OR spool = :none OR spool = :replaced";
  update.placeholders.values =
      item::Map{{":id", spool.id}, {":place", spool.place}, {":none", ""}, {":replaced", replaced}};
  const auto noted = retry_([&] { return store_.update_item(update); });
  if (!noted && noted.error().type != store::ErrorType::conditional_check_failed)
    return base::propagate(store::as_error(noted.error()));
  return {};
}

}  // namespace postino::outbox
