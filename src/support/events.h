// What happened to tickets, line by line. Safe to call from any thread.
#pragma once

#include <optional>
#include <string>

#include "support/record/ticket_event.h"
#include "support/ticket_store.h"
#include "support/ticket_writer.h"

namespace postino::support {

struct EventsRequest {
  std::string from_date = {};  // "2026-01-02", included; empty: from the first
  std::string to_date = {};    // included; empty: to the last
  bool newest_first = true;
  PageRequest page = {};  // of 10
};

class Events {
 public:
  Events(TicketStore& store, TicketWriter& writer) : store_(store), writer_(writer) {}

  // A line of the caller's own: a type of letters, digits and _ . -, and details of up to 64,000 bytes.
  OrRefusal<TicketEvent> add(const std::string& ticket_id, const std::string& type, const item::Map& details,
                             const Actor& actor);
  // The one of this event_name().
  OrRefusal<TicketEvent> find(const std::string& ticket_id, const std::string& name, const Actor& actor);
  // By day, and within a day by time: also those that other programs wrote without numbers, or with numbers above 999
  // that their keys do not sort by. Of a day with more than 10,000 events or 8 MB of them, these stand where their keys
  // do.
  OrRefusal<Page<TicketEvent>> list(const std::string& ticket_id, const EventsRequest& request, const Actor& actor);

 private:
  // Has the day events whose keys are not in the order in which they happened?
  store::Answer<bool> is_disordered(const std::string& partition, const std::string& day);

  TicketStore& store_;
  TicketWriter& writer_;
};

}  // namespace postino::support
