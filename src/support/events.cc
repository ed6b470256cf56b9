#include "support/events.h"

#include "base/log.h"
#include "item/attribute_text.h"
#include "support/customer_view.h"
#include "support/field_rules.h"

namespace postino::support {

namespace {

constexpr std::size_t event_type_bytes = 64;
constexpr std::size_t most_sorted_events = 200;  // of a day: a page reads so many

// By time, and among those of the same time by number.
std::string order_of_event(const item::Item& item) {
  constexpr std::size_t digits = 20;
  const auto event = read_event(item);
  if (!event) return item::attribute_text(item, "SK");
  const std::string number = std::to_string(event->number.value_or(0));
  return write_time(event->at) + "#" + std::string(digits - std::min(digits, number.size()), '0') + number + "#" +
         item::attribute_text(item, "SK");
}

}  // namespace

Answer<TicketEvent> Events::add(const std::string& ticket_id, const std::string& type, const item::Map& details,
                                const Actor& actor) {
  FieldRules rules;
  rules.word("event_type", type, event_type_bytes);
  rules.details("details", details, TicketLimits::details_bytes);
  TRY_VOID(rules.outcome());
  TicketEvent event;
  event.type = type;
  event.by = actor.known_as();
  event.details = details;
  event.at = store_.clock().now();
  const auto decide = [&](const StoredTicket& stored, const std::vector<std::size_t>&) -> Answer<TicketChange> {
    return TicketChange{.after = stored, .event = event};
  };
  TRY(const StoredTicket after, writer_.change(ticket_id, actor.scope, decide));
  event.date = after.events.day;
  event.number = after.events.count;
  return event;
}

Answer<Page<TicketEvent>> Events::list(const std::string& ticket_id, const EventsRequest& request, const Actor& actor) {
  FieldRules rules;
  if (!request.from_date.empty() && !is_date(request.from_date)) rules.add("from", "must be a day such as 2026-01-02");
  if (!request.to_date.empty() && !is_date(request.to_date)) rules.add("to", "must be a day such as 2026-01-02");
  TRY_VOID(rules.outcome());
  TRY_VOID(store_.find_readable(ticket_id, actor.scope));
  store::MergedListing listing;
  listing.name = "events/" + ticket_id + "/" + request.from_date + "/" + request.to_date +
                 (request.newest_first ? "/newest" : "/oldest");
  listing.ranges = {{store_.keys(actor.scope).ticket(ticket_id), std::string(event_begin)}};
  listing.newest_first = request.newest_first;
  listing.from = request.from_date;
  if (!request.to_date.empty()) listing.to = store::end_of_prefix(request.to_date);
  // The numbers of a day come before its texts of time, which the former system's transactions write.
  listing.group = [](std::string_view sort) { return std::string(sort.substr(0, 10)); };
  listing.order = order_of_event;
  listing.most_sorted = most_sorted_events;
  if (actor.scope.customer_id)
    listing.shows = [&](const item::Item& item) {
      auto event = read_event(item);
      return event && shown_to(actor.scope, *std::move(event));
    };
  TRY(const Page<item::Item> items, store_.list(std::move(listing), request.page, event_page, actor.scope));
  Page<TicketEvent> answer;
  answer.cursor = items.cursor;
  for (const item::Item& item : items.entries) {
    if (auto event = read_event(item)) {
      if (auto shown = shown_to(actor.scope, *std::move(event))) answer.entries.push_back(*std::move(shown));
    } else {
      base::log_warning("support", "an event is left out of a list", {{"cause", event.error().message}});
      ++answer.unreadable;
    }
  }
  return answer;
}

}  // namespace postino::support
