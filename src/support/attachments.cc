#include "support/attachments.h"

#include "base/log.h"
#include "item/attribute_text.h"
#include "support/customer_view.h"

namespace postino::support {

namespace {

// What the names of objects need to know of the table.
objects::KeyedTable keyed_tickets(const SupportTables& tables) {
  return {tables.tickets, {{"PK", item::Type::string}, {"SK", item::Type::string}}};
}

tl::unexpected<Refusal> refuse_attachment(const std::string& ticket_id, const std::string& id) {
  return refuse(RefusalKind::unknown_attachment, "the ticket " + ticket_id + " has no attachment " + id);
}

std::string sort_of_attachment(const std::string& id) { return std::string(attachment_begin) + id; }

item::Item attachment_item(const Keys& keys, const KeptAttachment& kept) {
  item::Item item = Keys::key(keys.ticket(kept.ticket_id), sort_of_attachment(kept.id));
  item.set("entity_type", "attachment");
  item.set("ticket_id", kept.ticket_id);
  if (!kept.by.empty()) item.set("by", kept.by);
  for (const item::Attribute& each : attachment_fields(kept.attachment)) item.set(each.name, each.value);
  return item;
}

base::Result<KeptAttachment> read_attachment(const std::string& ticket_id, const item::Item& item) {
  KeptAttachment kept;
  kept.ticket_id = ticket_id;
  kept.id = item::attribute_text(item, "SK").substr(attachment_begin.size());
  kept.by = item::attribute_text(item, "by");
  TRY(kept.attachment, read_attachment_fields(item));
  return kept;
}

// An error of the object store. Nothing was written that a ticket refers to.
Refusal refusal_of_objects(const base::Error& error) {
  if (error.code == base::ErrorCode::invalid) return refuse_field("ticket_id", error.message).value();
  if (error.code == base::ErrorCode::not_found || error.code == base::ErrorCode::corrupt)
    return {.kind = RefusalKind::corrupt, .message = "the bytes of the attachment cannot be read: " + error.message};
  return {.kind = RefusalKind::unavailable, .message = "the object store cannot be used: " + error.message};
}

TicketEvent attachment_change(std::string_view type, const KeptAttachment& kept, const Actor& actor,
                              base::TimePoint now) {
  TicketEvent event;
  event.at = now;
  event.type = std::string(type);
  event.by = actor.known_as();
  event.details = item::Map{{"attachment_id", kept.id}, {"name", kept.attachment.name}, {"size", kept.attachment.size}};
  return event;
}

}  // namespace

Attachments::Attachments(TicketStore& store, TicketWriter& writer, objects::ObjectStore* objects,
                         AttachmentLimits limits)
    : store_(store), writer_(writer), limits_(std::move(limits)) {
  if (objects != nullptr) contents_.emplace(*objects, keyed_tickets(store.tables()), store.clock(), store.random());
}

OrRefusal<std::vector<item::Item>> Attachments::items(const Keys& keys, const std::string& ticket_id) {
  store::QueryRequest request;
  request.table_name = store_.tables().tickets;
  request.key_condition = "PK = :pk AND begins_with(SK, :begin)";
  request.placeholders.values = item::Map{{":begin", std::string(attachment_begin)}, {":pk", keys.ticket(ticket_id)}};
  request.consistent_read = true;
  TRY(store::PageResponse page, store_.query(request));
  return std::move(page.items);
}

OrRefusal<AttachmentTotals> Attachments::totals(const Keys& keys, const std::string& ticket_id) {
  TRY(const std::vector<item::Item> had, items(keys, ticket_id));
  AttachmentTotals totals;
  totals.count = static_cast<int>(had.size());
  for (const item::Item& item : had)
    if (const auto attachment = read_attachment_fields(item)) totals.bytes += attachment->size;
  return totals;
}

OrRefusal<KeptAttachment> Attachments::add(const std::string& ticket_id, const AttachmentUpload& upload,
                                           const Actor& actor) {
  if (!contents_) return refuse(RefusalKind::unavailable, "there is no object store for attachments");
  const Keys keys = store_.keys(actor.scope);
  TRY_VOID(store_.find(ticket_id, actor.scope));
  const base::TimePoint now = store_.clock().now();
  TRY(const AttachmentTotals had_before, totals(keys, ticket_id));
  auto checked = check_attachment(upload, had_before, limits_, now);
  if (!checked) return refuse_field(checked.error().field, checked.error().rule);
  KeptAttachment kept{.ticket_id = ticket_id,
                      .id = base::make_ordered_uuid(now, store_.random()),
                      .by = actor.known_as(),
                      .attachment = *std::move(checked)};
  const auto on_shelf =
      contents_->keep(Keys::key(keys.ticket(ticket_id), sort_of_attachment(kept.id)), upload.bytes, kept.attachment);
  if (!on_shelf) return base::propagate(refusal_of_objects(on_shelf.error()));
  // What others have brought meanwhile counts as well.
  const auto decide = [&](const StoredTicket& stored, const std::vector<std::size_t>&) -> OrRefusal<TicketChange> {
    TRY(const AttachmentTotals had, totals(keys, ticket_id));
    if (const auto fits = check_attachment_room(kept.attachment.size, had, limits_); !fits)
      return refuse_field(fits.error().field, fits.error().rule);
    TicketChange change{.after = stored, .event = attachment_change(attachment_added_event, kept, actor, now)};
    change.beside.emplace_back(store_.put(attachment_item(keys, kept)));
    change.note_answer(actor, kept.id);
    return change;
  };
  auto written = writer_.change(ticket_id, actor.scope, decide);
  if (written) return shown_to(actor.scope, std::move(kept));
  // It may be there after all, and needs its bytes then.
  if (written.error().kind != RefusalKind::outcome_unknown) contents_->discard(kept.attachment);
  return base::propagate(std::move(written).error());
}

OrRefusal<std::vector<KeptAttachment>> Attachments::list(const std::string& ticket_id, const Actor& actor) {
  TRY_VOID(store_.find_readable(ticket_id, actor.scope));
  TRY(const std::vector<item::Item> found, items(store_.keys(actor.scope), ticket_id));
  std::vector<KeptAttachment> all;
  for (const item::Item& item : found) {
    if (auto kept = read_attachment(ticket_id, item))
      all.push_back(shown_to(actor.scope, *std::move(kept)));
    else
      base::log_warning("support", "an attachment is left out of a list", {{"cause", kept.error().message}});
  }
  return all;
}

OrRefusal<item::Item> Attachments::item_of(const std::string& ticket_id, const std::string& id, const Actor& actor) {
  constexpr std::size_t id_bytes = 100;
  TRY_VOID(store_.find_readable(ticket_id, actor.scope));
  if (id.empty() || id.size() > id_bytes) return refuse_attachment(ticket_id, id);
  const std::string partition = store_.keys(actor.scope).ticket(ticket_id);
  TRY(std::optional<item::Item> item, store_.get(Keys::key(partition, sort_of_attachment(id))));
  if (!item) return refuse_attachment(ticket_id, id);
  return *std::move(item);
}

OrRefusal<KeptAttachment> Attachments::find(const std::string& ticket_id, const std::string& id, const Actor& actor) {
  TRY(const item::Item item, item_of(ticket_id, id, actor));
  auto kept = read_attachment(ticket_id, item);
  if (!kept) return base::propagate(refusal_of(kept.error()));
  return shown_to(actor.scope, *std::move(kept));
}

OrRefusal<FetchedAttachment> Attachments::fetch(const std::string& ticket_id, const std::string& id,
                                                const Actor& actor) {
  TRY(const item::Item item, item_of(ticket_id, id, actor));
  auto kept = read_attachment(ticket_id, item);
  if (!kept) return base::propagate(refusal_of(kept.error()));
  if (!contents_) return refuse(RefusalKind::unavailable, "there is no object store for attachments");
  auto bytes = contents_->fetch(item);
  // It may have been removed between the item and its bytes.
  if (!bytes && bytes.error().code == base::ErrorCode::not_found) TRY_VOID(item_of(ticket_id, id, actor));
  if (!bytes) return base::propagate(refusal_of_objects(bytes.error()));
  return FetchedAttachment{shown_to(actor.scope, *std::move(kept)), *std::move(bytes)};
}

OrRefusal<void> Attachments::remove(const std::string& ticket_id, const std::string& id, const Actor& actor) {
  const Keys keys = store_.keys(actor.scope);
  const auto decide = [&](const StoredTicket& stored, const std::vector<std::size_t>&) -> OrRefusal<TicketChange> {
    TRY(const item::Item item, item_of(ticket_id, id, actor));
    KeptAttachment kept{.ticket_id = ticket_id, .id = id, .by = "", .attachment = {}};
    if (auto read = read_attachment(ticket_id, item)) kept = *std::move(read);  // a damaged one can go, too
    TicketChange change{.after = stored,
                        .event = attachment_change(attachment_removed_event, kept, actor, store_.clock().now())};
    change.beside.emplace_back(store_.removal(Keys::key(keys.ticket(ticket_id), sort_of_attachment(id))));
    return change;
  };
  TRY_VOID(writer_.change(ticket_id, actor.scope, decide));
  return {};
}

}  // namespace postino::support
