// Tickets and what belongs to them, as the API writes them.
#pragma once

#include <string>
#include <vector>

#include "json/writer.h"
#include "support/support_desk.h"

namespace postino::api {

void write_json(json::Writer& json, const support::Ticket& ticket);
void write_json(json::Writer& json, const support::Feedback& feedback);
void write_json(json::Writer& json, const support::TicketEvent& event);
void write_json(json::Writer& json, const support::TicketEmail& email);
void write_json(json::Writer& json, const support::KeptAttachment& kept);

// The ticket, and as `data` what is stored of it, with what other programs have added.
std::string ticket_with_data_json(const support::Ticket& ticket);
std::string creation_json(const support::Creation& creation);
std::string ticket_path(const std::string& id);  // where it is shown
std::string ticket_counts_json(const support::TicketCounts& counts, base::TimePoint as_of);
std::string feedback_of_ticket_json(const support::TicketWithFeedback& found);

template <class T>
std::string ticket_json(const T& value) {
  std::string text;
  json::Writer json(text);
  write_json(json, value);
  return text;
}

template <class T>
void write_elements(json::Writer& json, const std::vector<T>& values) {
  json.key("data").begin_array();
  for (const T& value : values) write_json(json, value);
  json.end_array();
}

template <class T>
std::string ticket_list_json(const std::vector<T>& values) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  write_elements(json, values);
  json.end_object();
  return text;
}

template <class T>
std::string ticket_page_json(const support::Page<T>& page) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  write_elements(json, page.entries);
  json.key("cursor");
  page.cursor.empty() ? json.null() : json.string(page.cursor);
  if (page.unreadable > 0) json.key("unreadable").integer(page.unreadable);
  json.end_object();
  return text;
}

}  // namespace postino::api
