// One line of what happened to a ticket.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "item/value.h"
#include "support/record/keys.h"
#include "support/record/ticket_item.h"

namespace postino::support {

inline constexpr std::string_view created_event = "ticket_created";
inline constexpr std::string_view status_event = "status_changed";
inline constexpr std::string_view priority_event = "priority_changed";
inline constexpr std::string_view feedback_event = "feedback_received";
inline constexpr std::string_view email_sent_event = "email_sent";
inline constexpr std::string_view email_received_event = "email_received";
inline constexpr std::string_view attachment_added_event = "attachment_added";
inline constexpr std::string_view attachment_removed_event = "attachment_removed";

struct TicketEvent {
  std::string date;                         // of its key
  std::optional<std::int64_t> number = {};  // of its key; absent where another program wrote it without one
  base::TimePoint at{};
  std::string type = {};
  std::string by = {};                           // who did it
  std::string old_status = {}, new_status = {};  // of a status_changed
  item::Map details = {};
  std::string id = {};  // by which a writer knows its own event again; absent where another program wrote it
};

item::Item event_item(const Keys& keys, const std::string& ticket_id, const TicketEvent& event);
base::Result<TicketEvent> read_event(const item::Item& item);
// By which one with a number is found among those of its ticket: the end of its key.
inline std::string event_name(const TicketEvent& event) { return event_sort(event.date, event.number.value_or(0)); }

// The day and the number of the next event: the first that is behind `count`, and behind `taken`, the last number of
// that day that is known to be taken. Days do not go back while clocks differ by less than one.
struct EventPlace {
  std::string date;
  std::int64_t number = 1;
};
EventPlace next_event_place(const EventCount& count, base::TimePoint now, const std::optional<EventPlace>& taken);

}  // namespace postino::support
