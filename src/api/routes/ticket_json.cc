#include "api/routes/ticket_json.h"

#include <algorithm>

#include "api/routes/json_members.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "item/plain_json.h"

namespace postino::api {

namespace {

void flag_in_ticket(json::Writer& json, std::string_view name, const std::optional<bool>& flag) {
  if (flag) json.key(name).boolean(*flag);
}

void ticket_members(json::Writer& json, const support::Ticket& ticket) {
  json.key("ticket_id").string(ticket.id);
  json.key("status").string(name_of(ticket.status));
  json.key("version").integer(ticket.version);
  json.key("priority").string(ticket.priority);
  json.key("customer").begin_object();
  json.key("id").string(ticket.customer.id);
  text_member(json, "name", ticket.customer.name);
  text_member(json, "contact_email", ticket.customer.contact_email);
  text_member(json, "account_tier", ticket.customer.account_tier);
  json.end_object();
  json.key("asset").begin_object();
  text_member(json, "product_type", ticket.asset.product_type);
  text_member(json, "model", ticket.asset.model);
  text_member(json, "serial", ticket.asset.serial);
  text_member(json, "firmware", ticket.asset.firmware);
  json.end_object();
  json.key("symptom_text").string(ticket.symptom_text);
  text_member(json, "error_code", ticket.error_code);
  text_member(json, "lang", ticket.lang);
  text_member(json, "status_reason", ticket.status_reason);
  time_member(json, "created_at", ticket.created_at);
  time_member(json, "updated_at", ticket.updated_at);
  time_member(json, "completed_at", ticket.completed_at);
  if (!ticket.unavailable.empty()) {
    json.key("unavailable").begin_array();
    for (const std::string& name : ticket.unavailable) json.string(name);
    json.end_array();
  }
  if (!ticket.escalation) return;
  time_member(json, "escalated_at", ticket.escalation->at);
  text_member(json, "assigned_to", ticket.escalation->engineer);
  text_member(json, "escalation_reason", ticket.escalation->reason);
}

}  // namespace

void write_json(json::Writer& json, const support::Ticket& ticket) {
  json.begin_object();
  ticket_members(json, ticket);
  json.end_object();
}

void write_json(json::Writer& json, const support::Feedback& feedback) {
  json.begin_object();
  json.key("ticket_id").string(feedback.ticket_id);
  json.key("operator_id").string(feedback.operator_id);
  json.key("rating").integer(feedback.rating);
  flag_in_ticket(json, "was_helpful", feedback.was_helpful);
  flag_in_ticket(json, "resolved_issue", feedback.resolved_issue);
  text_member(json, "comments", feedback.comments);
  json.key("submitted_at").string(support::time_in_utc(feedback.submitted_text));
  json.end_object();
}

void write_json(json::Writer& json, const support::TicketEvent& event) {
  json.begin_object();
  json.key("date").string(event.date);
  if (event.number) json.key("number").integer(*event.number);
  time_member(json, "at", event.at);
  json.key("event_type").string(event.type);
  text_member(json, "by", event.by);
  text_member(json, "old_status", event.old_status);
  text_member(json, "new_status", event.new_status);
  json.key("details").raw(item::to_plain_json(event.details));
  json.end_object();
}

void write_json(json::Writer& json, const support::TicketEmail& email) {
  json.begin_object();
  json.key("ticket_id").string(email.ticket_id);
  json.key("direction").string(email.received ? "received" : "sent");
  json.key("message_id").string(email.message_id);
  text_member(json, "email_id", email.email_id);
  text_member(json, "kind", email.kind);
  json.key("from").string(email.from);
  json.key("to").begin_array();
  for (const std::string& to : email.to) json.string(to);
  json.end_array();
  json.key("subject").string(email.subject);
  json.key("text").string(email.text);
  if (email.is_cut) json.key("is_cut").boolean(true);
  text_member(json, "in_reply_to", email.in_reply_to);
  text_member(json, "by", email.by);
  time_member(json, "at", email.at);
  json.end_object();
}

void write_json(json::Writer& json, const support::KeptAttachment& kept) {
  json.begin_object();
  json.key("ticket_id").string(kept.ticket_id);
  json.key("attachment_id").string(kept.id);
  json.key("name").string(kept.attachment.name);
  json.key("content_type").string(kept.attachment.content_type);
  json.key("size").integer(kept.attachment.size);
  json.key("sha256").string(kept.attachment.sha256);
  text_member(json, "by", kept.by);
  time_member(json, "uploaded_at", kept.attachment.uploaded_at);
  json.end_object();
}

std::string ticket_with_data_json(const support::Ticket& ticket) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  ticket_members(json, ticket);
  json.key("data").raw(item::to_plain_json(ticket.data));
  json.end_object();
  return text;
}

std::string ticket_path(const std::string& id) { return "/tickets/" + base::encode_percent(id); }

std::string creation_json(const support::Creation& creation) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("ticket_id").string(creation.ticket_id);
  json.key("status").string(creation.status);
  json.key("created_at").string(support::time_in_utc(creation.created_at));
  json.key("status_url").string(ticket_path(creation.ticket_id));
  json.end_object();
  return text;
}

std::string ticket_counts_json(const support::TicketCounts& counts, base::TimePoint as_of) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("by_status").begin_object();
  std::int64_t total = 0;
  for (const auto& each : counts.by_status) {
    json.key(name_of(each.status)).integer(each.count);
    total += each.count;
  }
  json.end_object();
  json.key("total").integer(total);
  if (std::ranges::any_of(counts.by_status, &support::TicketCounts::OfStatus::is_least)) {
    json.key("at_least").begin_array();
    for (const auto& each : counts.by_status)
      if (each.is_least) json.string(name_of(each.status));
    json.end_array();
  }
  time_member(json, "as_of", as_of);
  json.end_object();
  return text;
}

std::string feedback_of_ticket_json(const support::TicketWithFeedback& found) {
  std::string text;
  AnswerWriter json(text);
  json.begin_object();
  json.key("ticket");
  write_json(json, found.ticket);
  write_page(json, found.feedback);
  json.end_object();
  return text;
}

}  // namespace postino::api
