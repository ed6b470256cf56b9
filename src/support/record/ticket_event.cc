#include "support/record/ticket_event.h"

#include <algorithm>

#include "item/attribute_text.h"
#include "item/fields.h"
#include "item/plain_json.h"
#include "objects/large_attributes.h"

namespace postino::support {

namespace {

constexpr std::size_t event_date_length = 10;

}  // namespace

EventPlace next_event_place(const EventCount& count, base::TimePoint now, const std::optional<EventPlace>& taken) {
  const std::string today = date_of(now);
  const bool goes_on = count.day == today || count.day == date_of(now + std::chrono::hours(24));
  EventPlace place{goes_on ? count.day : today, 1};
  if (goes_on) place.number = count.count + 1;
  if (taken && taken->date == place.date) place.number = std::max(place.number, taken->number + 1);
  return place;
}

item::Item event_item(const Keys& keys, const std::string& ticket_id, const TicketEvent& event) {
  item::Item item = Keys::key(keys.ticket(ticket_id), event_sort(event.date, event.number.value_or(0)));
  item.set("entity_type", "event");
  item.set("ticket_id", ticket_id);
  item.set("timestamp", write_time(event.at));
  item.set("event_type", event.type);
  if (!event.by.empty()) item.set("by", event.by);
  if (!event.id.empty()) item.set("event_id", event.id);
  if (!event.old_status.empty()) item.set("old_status", event.old_status);
  if (!event.new_status.empty()) item.set("new_status", event.new_status);
  item.set("details", event.details);
  return item;
}

base::Result<TicketEvent> read_event(const item::Item& item) {
  TRY_VOID(objects::check_whole(item));
  item::Fields fields(item);
  TicketEvent event;
  const std::string sort = fields.text("SK");
  const std::string_view place =
      sort.starts_with(event_begin) ? std::string_view(sort).substr(event_begin.size()) : std::string_view();
  event.date = std::string(place.substr(0, std::min(event_date_length, place.size())));
  if (place.size() > event_date_length + 1 && place[event_date_length] == '#')
    event.number = parse_event_number(place.substr(event_date_length + 1));
  event.type = fields.text("event_type");
  event.by = fields.text("by");
  event.id = fields.text("event_id");
  event.old_status = fields.text("old_status");
  event.new_status = fields.text("new_status");
  if (const item::AttributeValue* const details = item.find("details"))
    event.details = item::map_or_json(*details).value_or(item::Map());
  const auto at = read_time(fields.text("timestamp"));
  const auto of_key = read_time(place.substr(0, place.find('#')));
  if (at || of_key)
    event.at = at ? *at : *of_key;
  else
    fields.fault("timestamp", "a time such as 2025-11-18T10:30:00Z");
  TRY_VOID(fields.check(key_text(item)));
  return event;
}

}  // namespace postino::support
