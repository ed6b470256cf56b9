#include "app/cli/commands.h"
#include "app/cli/listing_command.h"
#include "app/cli/operation_command.h"

namespace postino::app {

namespace {

constexpr int symptom_columns = 50;

std::vector<ListingColumn> ticket_columns() {
  return {{"TICKET", "ticket_id"},
          {"STATUS", "status"},
          {"PRIORITY", "priority"},
          {"CUSTOMER", "customer.id"},
          {"CREATED", "created_at"},
          {"ENGINEER", "assigned_to"},
          {"SYMPTOM", "symptom_text", Align::left, {}, {}, symptom_columns}};
}

struct TicketListing {
  std::string_view name;
  Listing listing;
};

const std::vector<TicketListing>& ticket_listings() {
  static const std::vector<TicketListing> listings = {
      {"list", {"listTickets", "reading tickets", ticket_columns()}},
      {"escalated", {"listEscalatedTickets", "reading tickets", ticket_columns()}},
      {"feedback-of",
       {"listFeedback",
        "reading feedback",
        {{"TICKET", "ticket_id"},
         {"RATING", "rating", Align::right},
         {"SUBMITTED", "submitted_at"},
         {"COMMENTS", "comments", Align::left, {}, {}, symptom_columns}}}},
      {"events",
       {"listTicketEvents",
        "reading events",
        {{"DATE", "date"},
         {"NUMBER", "number", Align::right},
         {"AT", "at"},
         {"EVENT", "event_type"},
         {"BY", "by"},
         {"FROM", "old_status"},
         {"TO", "new_status"}}}},
      {"emails",
       {"listTicketEmails",
        "reading e-mails",
        {{"AT", "at"},
         {"DIRECTION", "direction"},
         {"KIND", "kind"},
         {"FROM", "from"},
         {"SUBJECT", "subject", Align::left, {}, {}, symptom_columns}}}},
  };
  return listings;
}

constexpr OperationCommand ticket_operations[] = {
    {"open", "createTicket"},
    {"show", "getTicket"},
    {"several", "getTickets"},
    {"move", "moveTicket"},
    {"escalate", "escalateTicket"},
    {"deescalate", "deescalateTicket"},
    {"priority", "changeTicketPriority"},
    {"feedback", "getTicketFeedback"},
    {"rate", "addFeedback"},
    {"note", "addTicketEvent"},
    {"write", "sendTicketEmail"},
    {"answer", "receiveTicketAnswer"},
};

}  // namespace

void add_tickets_command(CommandLine& line) {
  CLI::App& tickets = add_command_group(line, "tickets", "open tickets of the support desk, and work on them");
  tickets.require_subcommand(1);
  for (const TicketListing& named : ticket_listings()) {
    ClientCommand list(line, tickets, std::string(named.name), named.listing.operation);
    run_listing(list, named.listing);
  }
  for (const OperationCommand& command : ticket_operations) add_operation_command(line, tickets, command);
}

}  // namespace postino::app
