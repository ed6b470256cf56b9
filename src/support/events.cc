#include "support/events.h"

#include "base/log.h"
#include "item/attribute_text.h"
#include "support/customer_view.h"
#include "support/field_rules.h"

namespace postino::support {

namespace {

constexpr std::size_t most_sorted_events = 200;  // of a day: a page reads so many
constexpr std::size_t plain_number_digits = 3;   // more of them do not sort

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

OrRefusal<TicketEvent> Events::add(const std::string& ticket_id, const std::string& type, const item::Map& details,
                                   const Actor& actor) {
  FieldRules rules;
  rules.word("event_type", type, TicketLimits::event_type_bytes);
  rules.details("details", details, TicketLimits::details_bytes);
  TRY_VOID(rules.outcome());
  TicketEvent event;
  event.type = type;
  event.by = actor.known_as();
  event.details = details;
  event.at = store_.clock().now();
  const auto decide = [&](const StoredTicket& stored, const std::vector<std::size_t>&) -> OrRefusal<TicketChange> {
    TicketChange change{.after = stored, .event = event};
    if (actor.note_answer)
      change.note = [&](const TicketEvent& placed) { return actor.note_answer(event_name(placed)); };
    return change;
  };
  TRY(const StoredTicket after, writer_.change(ticket_id, actor.scope, decide));
  event.date = after.events.day;
  event.number = after.events.count;
  return event;
}

store::Answer<bool> Events::is_disordered(const std::string& partition, const std::string& day) {
  const std::string begin = std::string(event_begin) + day;
  store::QueryRequest request;
  request.table_name = store_.tables().tickets;
  request.key_condition = "PK = :pk AND SK BETWEEN :from AND :to";
  request.projection = "SK";
  request.consistent_read = true;
  // Times in the place of numbers.
  request.placeholders.values =
      item::Map{{":from", begin + "T"}, {":pk", partition}, {":to", store::end_of_prefix(begin + "T")}};
  request.limit = 1;
  TRY(const store::PageResponse times, store_.store().query(request));
  if (!times.items.empty()) return true;
  // Numbers without a letter, of another length than three digits. There are a thousand of these, so that no more need
  // be looked at. Events may be large: the order of many of them is not worth any number of reads.
  constexpr int enough = 1'001, most_pages = 20;
  const std::size_t usual_length = begin.size() + 1 + plain_number_digits;
  request.placeholders.values = item::Map{{":from", begin + "#0"}, {":pk", partition}, {":to", begin + "#:"}};
  request.limit = enough;
  for (int page = 0; page < most_pages; ++page) {
    TRY(store::PageResponse numbers, store_.store().query(request));
    for (const item::Item& item : numbers.items)
      if (item::attribute_text(item, "SK").size() != usual_length) return true;
    if (!numbers.last_evaluated_key) break;
    request.exclusive_start_key = std::move(numbers.last_evaluated_key);
  }
  return false;
}

OrRefusal<TicketEvent> Events::find(const std::string& ticket_id, const std::string& name, const Actor& actor) {
  TRY_VOID(store_.find(ticket_id, actor.scope));
  const std::string partition = store_.keys(actor.scope).ticket(ticket_id);
  TRY(const std::optional<item::Item> item, store_.get(Keys::key(partition, name)));
  if (!item) return refuse(RefusalKind::unknown_ticket, "the ticket " + ticket_id + " has no such event");
  auto event = read_event(*item);
  if (!event) return base::propagate(refusal_of(event.error()));
  return *std::move(event);
}

OrRefusal<Page<TicketEvent>> Events::list(const std::string& ticket_id, const EventsRequest& request,
                                          const Actor& actor) {
  FieldRules rules;
  if (!request.from_date.empty() && !is_date(request.from_date)) rules.add("since", "must be a day such as 2026-01-02");
  if (!request.to_date.empty() && !is_date(request.to_date)) rules.add("until", "must be a day such as 2026-01-02");
  TRY_VOID(rules.outcome());
  TRY_VOID(store_.find_readable(ticket_id, actor.scope));
  store::MergedListing listing;
  listing.name = "events/" + ticket_id + "/" + request.from_date + "/" + request.to_date +
                 (request.newest_first ? "/newest" : "/oldest");
  const std::string partition = store_.keys(actor.scope).ticket(ticket_id);
  listing.ranges = {{partition, std::string(event_begin)}};
  listing.newest_first = request.newest_first;
  listing.from = request.from_date;
  if (!request.to_date.empty()) listing.to = store::end_of_prefix(request.to_date);
  // The numbers of a day come before its texts of time, which the former system's transactions write.
  listing.group = [](std::string_view sort) { return std::string(sort.substr(0, 10)); };
  listing.order = order_of_event;
  listing.most_sorted = most_sorted_events;
  listing.is_disordered = [this, partition](const std::string& day) { return is_disordered(partition, day); };
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
