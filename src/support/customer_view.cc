#include "support/customer_view.h"

#include <algorithm>

#include "base/text.h"
#include "mail/address.h"
#include "support/record/ticket_item.h"

namespace postino::support {

namespace {

constexpr std::string_view public_event_types[] = {created_event,  status_event,           priority_event,
                                                   feedback_event, attachment_added_event, attachment_removed_event};
constexpr std::string_view public_details[] = {"attachment_id", "name",         "new_priority",
                                               "new_status",    "old_priority", "old_status",
                                               "operator_id",   "rating",       "size"};

bool is_public_note(const TicketEvent& event) {
  const item::AttributeValue* const value = event.details.find("public");
  const auto* const flag = value != nullptr ? value->get_if<bool>() : nullptr;
  return flag != nullptr && *flag;
}

}  // namespace

Ticket shown_to(const Scope& scope, Ticket ticket) {
  if (!scope.customer_id) return ticket;
  ticket.status_reason.clear();
  if (ticket.escalation) {
    ticket.escalation->engineer.clear();
    ticket.escalation->reason.clear();
  }
  ticket.data = {};
  ticket.data = ticket_data(ticket);
  return ticket;
}

std::optional<TicketEvent> shown_to(const Scope& scope, TicketEvent event) {
  if (!scope.customer_id) return event;
  event.by.clear();
  if (std::ranges::find(public_event_types, event.type) == std::end(public_event_types)) {
    const bool is_about_email = event.type == email_sent_event || event.type == email_received_event;
    if (is_about_email || !is_public_note(event)) return std::nullopt;
    return event;
  }
  item::Map details;
  for (const item::Attribute& each : event.details)
    if (std::ranges::find(public_details, each.name) != std::end(public_details)) details.set(each.name, each.value);
  event.details = std::move(details);
  return event;
}

std::optional<TicketEmail> shown_to(const Scope& scope, TicketEmail email, const Ticket& ticket) {
  if (!scope.customer_id) return email;
  if (!is_with_customer(email, ticket)) return std::nullopt;
  email.by.clear();
  return email;
}

KeptAttachment shown_to(const Scope& scope, KeptAttachment kept) {
  if (scope.customer_id) kept.by.clear();
  return kept;
}

bool is_with_customer(const TicketEmail& email, const Ticket& ticket) {
  if (email.brought_by_customer) return true;
  const std::string& contact = ticket.customer.contact_email;
  if (contact.empty()) return false;
  if (!email.received)
    return std::ranges::any_of(email.to, [&](const std::string& to) { return base::equal_ignoring_case(to, contact); });
  const auto from = mail::parse_mailbox(email.from);
  return from && base::equal_ignoring_case(from->address, contact);
}

}  // namespace postino::support
