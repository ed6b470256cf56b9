#include "reminders/audit.h"

#include "item/attribute_text.h"
#include "reminders/listing.h"
#include "reminders/record/invoice.h"
#include "reminders/record/keys.h"
#include "reminders/reminder_store.h"

namespace postino::reminders {

namespace {

// Only this class writes to that table, so what is not there is empty.
AuditEvent event_of(const item::Item& item) {
  using item::attribute_text;
  AuditEvent event;
  event.id = attribute_text(item, "SK");
  event.at = parse_seed_time(attribute_text(item, "at")).value_or(base::TimePoint());
  event.actor = attribute_text(item, "actor");
  event.key = attribute_text(item, "key");
  event.from = attribute_text(item, "from");
  event.action = attribute_text(item, "action");
  event.subject = attribute_text(item, "subject");
  const item::AttributeValue* const details = item.find("details");
  const auto* const map = details != nullptr ? details->get_if<item::Map>() : nullptr;
  if (map == nullptr) return event;
  for (const item::Attribute& detail : *map) event.details[detail.name] = attribute_text(*map, detail.name);
  return event;
}

}  // namespace

OrRefusal<Page<AuditEvent>> Audit::list(const AuditRequest& request, const std::string& tenant) {
  const std::string date = request.date.empty() ? date_of(store_.clock().now()) : request.date;
  if (!is_date(date)) return refuse_field("date", std::string(date_rule));
  Listing listing;
  listing.name = "audit/" + date + "/" + request.subject;
  listing.table = store_.tables().audit();
  listing.partitions = {store_.keys(tenant).audit(date)};
  listing.newest_first = true;
  listing.shows = [&](const item::Item& item) {
    return item::attribute_text(item, "subject").starts_with(request.subject);
  };
  TRY(const Page<item::Item> items, list_items(store_, listing, request.page));
  Page<AuditEvent> answer;
  answer.cursor = items.cursor;
  for (const item::Item& item : items.entries) answer.entries.push_back(event_of(item));
  return answer;
}

}  // namespace postino::reminders
