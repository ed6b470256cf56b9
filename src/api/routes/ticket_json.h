// Tickets and what belongs to them, as the API writes them.
#pragma once

#include <string>
#include <vector>

#include "api/routes/json_answer.h"
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

}  // namespace postino::api
