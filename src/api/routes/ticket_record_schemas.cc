// The shapes of what belongs to tickets: feedback, events, e-mails, attachments, and what is cached.
#include "api/protocol/schemas.h"
#include "api/routes/schema_parts.h"
#include "api/routes/ticket_requests.h"

namespace postino::api {

namespace {

using enum Presence;
using support::TicketLimits;

Schema record_line(std::size_t most, std::string description) {
  return {.type = "string",
          .description = std::move(description),
          .pattern = without_control_characters,
          .most = limit_of(most)};
}

Schema any_object(std::string description) {
  return {.type = "object", .description = std::move(description), .elements = {{}}};
}

std::string up_to_bytes(std::size_t most) { return "Of up to " + std::to_string(most) + " bytes."; }

Property event_by() {
  return {"by", record_line(TicketSizes::person, "Who says it; the name of the API key by default.")};
}

Schema new_feedback() {
  return {.type = "object",
          .properties = {{"operator_id", record_line(TicketLimits::id_bytes, "Who gives it."), required},
                         {"rating",
                          {.type = "integer",
                           .description = "From 1 to 5.",
                           .least = TicketLimits::least_rating,
                           .most = TicketLimits::most_rating},
                          required},
                         {"was_helpful", flag("Did it help?")},
                         {"resolved_issue", flag("Is it resolved?")},
                         {"comments",
                          {.type = "string",
                           .description = "Control characters other than line ends and tabs are refused.",
                           .most = limit_of(TicketLimits::comments)}}},
          .closed = true};
}

Schema feedback() {
  return {.type = "object",
          .properties = {{"ticket_id", text(), required},
                         {"operator_id", text(), required},
                         {"rating", count(), required},
                         {"was_helpful", flag()},
                         {"resolved_issue", flag()},
                         {"comments", text()},
                         {"submitted_at", text("As it is written, and its key."), required}}};
}

Schema event() {
  return {.type = "object",
          .properties = {{"date", text("The day that it is counted by."), required},
                         {"number", count("Of the day; absent where another program wrote it without one.")},
                         {"at", time(), required},
                         {"event_type", text(), required},
                         {"by", text()},
                         {"old_status", text()},
                         {"new_status", text()},
                         {"details", any_object(""), required}}};
}

Schema ticket_email() {
  return {.type = "object",
          .properties = {{"ticket_id", text(), required},
                         {"direction", {.type = "string", .choices = {"sent", "received"}}, required},
                         {"message_id", text("Without angle brackets."), required},
                         {"email_id", text("Of a sent one: its id in the outbox.")},
                         {"kind", text()},
                         {"from", text(), required},
                         {"to", list_of(text()), required},
                         {"subject", text(), required},
                         {"text", text(), required},
                         {"is_cut", flag("The text was longer.")},
                         {"in_reply_to", text()},
                         {"by", text("Who sent it, or brought it.")},
                         {"at", time(), required}}};
}

Schema new_ticket_email() {
  const Schema new_ticket = ticket_schemas().front().schema;
  Schema schema = *find_property(new_ticket, "letter");
  schema.description.clear();
  schema.properties.pop_back();  // the key: the request has one
  schema.properties.push_back(event_by());
  return schema;
}

Schema received_message() {
  return {
      .type = "object",
      .properties = {{"headers",
                      {.type = "string",
                       .description = "Its header fields, one in a line as RFC 5322 has them.",
                       .most = limit_of(support::ReceivedLimits::headers)}},
                     {"text",
                      {.type = "string",
                       .description = "Its text, decoded. Control characters in it become spaces, and what is "
                                      "longer than 200,000 bytes is cut off.",
                       .most = limit_of(support::ReceivedLimits::text)}},
                     {"message_base64",
                      {.type = "string",
                       .description = "In place of both: the e-mail as it came, of up to 4 MB. Its text is the plain "
                                      "text in it, or what its HTML says, decoded.",
                       .content_encoding = "base64",
                       .most = limit_of((support::ReceivedLimits::email + 2) / 3 * 4)}}},
      .one_required = {"headers", "message_base64"},
      .closed = true};
}

Schema new_ticket_attachment() {
  return {.type = "object",
          .properties = {{"name",
                          {.type = "string",
                           .description = "The name of the file. It is cleaned: only its last part is kept.",
                           .most = limit_of(TicketSizes::file_name)},
                          required},
                         {"content_type",
                          {.type = "string",
                           .description = "Its media type; if absent, it is found out from its bytes.",
                           .most = limit_of(TicketSizes::content_type)}},
                         {"size", count("How many bytes it has: another size is refused.")},
                         {"sha256",
                          {.type = "string",
                           .description = "The SHA-256 of the bytes in hexadecimal: others are refused.",
                           .pattern = "^[0-9A-Fa-f]*$"}},
                         {"content_base64",
                          {.type = "string", .description = "The bytes.", .content_encoding = "base64"},
                          required}},
          .closed = true};
}

Schema ticket_attachment() {
  return {.type = "object",
          .properties = {{"ticket_id", text(), required},
                         {"attachment_id", text(), required},
                         {"name", text(), required},
                         {"content_type", text("What it is, whatever was claimed."), required},
                         {"size", count("Bytes."), required},
                         {"sha256", text("In hexadecimal."), required},
                         {"by", text("Who brought it.")},
                         {"uploaded_at", time(), required}}};
}

}  // namespace

std::vector<NamedSchema> ticket_record_schemas() {
  return {
      {"NewFeedback", new_feedback()},
      {"Feedback", feedback()},
      {"FeedbackPage", page_of_records("Feedback")},
      {"TicketFeedback",
       {.type = "object",
        .properties = {{"ticket", like("Ticket"), required},
                       page_of_records("Feedback").properties[0],
                       page_of_records("Feedback").properties[1],
                       page_of_records("Feedback").properties[2]}}},
      {"NewTicketEvent",
       {.type = "object",
        .properties = {{"event_type",
                        {.type = "string",
                         .description = "A word of letters, digits and _ . -",
                         .pattern = "^[A-Za-z0-9_.-]+$",
                         .most = limit_of(TicketLimits::event_type_bytes)},
                        required},
                       {"details", any_object(up_to_bytes(TicketLimits::details_bytes))},
                       event_by()},
        .closed = true}},
      {"TicketEvent", event()},
      {"TicketEventPage", page_of_records("TicketEvent")},
      {"NewTicketEmail", new_ticket_email()},
      {"TicketEmail", ticket_email()},
      {"TicketEmailPage", page_of_records("TicketEmail")},
      {"ReceivedMessage", received_message()},
      {"NewTicketAttachment", new_ticket_attachment()},
      {"TicketAttachment", ticket_attachment()},
      {"TicketAttachmentList",
       {.type = "object", .properties = {{"data", list_of(like("TicketAttachment")), required}}}},
      {"CachedResult",
       {.type = "object",
        .properties = {{"data", any_object(up_to_bytes(TicketLimits::cached_bytes)), required}},
        .closed = true}},
  };
}

}  // namespace postino::api
