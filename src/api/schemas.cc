#include "api/schemas.h"

#include "json/writer.h"
#include "outbox/outbox.h"

namespace postino::api {

namespace {

std::string state_schema() {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("type").string("string");
  json.key("description").string("Where an e-mail is on its way.");
  json.key("enum").begin_array();
  for (const outbox::State state : outbox::all_states()) json.string(name_of(state));
  json.end_array();
  json.end_object();
  return text;
}

std::string counts_schema() {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("type").string("object");
  json.key("required").raw(R"(["counts","total"])");
  json.key("properties").begin_object();
  json.key("counts").begin_object();
  json.key("type").string("object");
  json.key("required").begin_array();
  for (const outbox::State state : outbox::all_states()) json.string(name_of(state));
  json.end_array();
  json.key("additionalProperties").raw(R"({"type":"integer","minimum":0})");
  json.end_object();
  json.key("total").raw(R"({"type":"integer","minimum":0})");
  json.end_object();
  json.end_object();
  return text;
}

constexpr const char* payload = R"({
  "type": "object",
  "description": "An e-mail as it is handed in. At least one of body_text and body_html is required.",
  "required": ["from", "to", "subject"],
  "anyOf": [{"required": ["body_text"]}, {"required": ["body_html"]}],
  "additionalProperties": false,
  "properties": {
    "id": {"type": "string", "format": "uuid", "description": "Given by the outbox when absent."},
    "from": {"$ref": "#/components/schemas/Mailbox"},
    "reply_to": {"$ref": "#/components/schemas/Mailbox"},
    "to": {"$ref": "#/components/schemas/Mailboxes"},
    "cc": {"$ref": "#/components/schemas/Mailboxes"},
    "bcc": {"$ref": "#/components/schemas/Mailboxes"},
    "subject": {"type": "string"},
    "body_text": {"type": "string"},
    "body_html": {"type": "string", "description": "Images in data: URLs become parts of the message."},
    "attachments": {"type": "array", "maxItems": 50, "items": {"$ref": "#/components/schemas/Attachment"}},
    "custom_headers": {
      "type": "object", "maxProperties": 50, "additionalProperties": {"type": "string"},
      "description": "Further headers; none of those that the outbox writes itself."
    },
    "send_at": {"type": "string", "format": "date-time", "description": "It is not sent before."},
    "callback_url": {"type": "string", "format": "uri", "description": "Is told what became of the e-mail."},
    "tags": {"type": "array", "maxItems": 20, "items": {"type": "string"}},
    "unsubscribe": {
      "type": "object", "additionalProperties": false,
      "description": "For the List-Unsubscribe header.",
      "properties": {"url": {"type": "string", "format": "uri"}, "mailto": {"type": "string", "format": "email"}}
    }
  },
  "examples": [{"from": "Shop <shop@example.com>", "to": "ann@example.com", "subject": "Hello", "body_text": "Hello."}]
})";

constexpr const char* mailbox =
    R"({"type":"string","description":"An address, with or without a name.","examples":["Ann <ann@example.com>"]})";

constexpr const char* mailboxes = R"({
  "description": "One or many; to, cc and bcc have at most 100 together.",
  "anyOf": [
    {"$ref": "#/components/schemas/Mailbox"},
    {"type": "array", "maxItems": 100, "items": {"$ref": "#/components/schemas/Mailbox"}}
  ]
})";

constexpr const char* attachment = R"({
  "description": "A file below the configured folder, by its path; or the content itself.",
  "anyOf": [
    {"type": "string", "description": "The path."},
    {"type": "object", "required": ["path"], "additionalProperties": false, "properties": {
      "path": {"type": "string"}, "name": {"type": "string"}, "content_type": {"type": "string"}}},
    {"type": "object", "required": ["name", "content_base64"], "additionalProperties": false, "properties": {
      "name": {"type": "string"}, "content_type": {"type": "string"},
      "content_base64": {"type": "string", "contentEncoding": "base64"}}}
  ]
})";

constexpr const char* email_batch = R"({
  "type": "object", "required": ["data"], "additionalProperties": false,
  "properties": {
    "data": {"type": "array", "minItems": 1, "maxItems": 100, "items": {"$ref": "#/components/schemas/Payload"}}}
})";

constexpr const char* acceptance = R"({
  "type": "object", "required": ["summary", "results"],
  "properties": {
    "summary": {
      "type": "object", "required": ["total", "successful", "failed"],
      "properties": {"total": {"type": "integer"}, "successful": {"type": "integer"}, "failed": {"type": "integer"}}},
    "results": {
      "type": "array", "description": "In the order of the elements.",
      "items": {
        "type": "object", "required": ["id", "status"],
        "properties": {
          "id": {"type": "string"},
          "status": {"type": "string", "enum": ["ACCEPTED", "REJECTED"]},
          "error": {
            "type": "object", "required": ["code", "message"], "description": "Of those that were rejected.",
            "properties": {
              "code": {"type": "string", "enum": ["DUPLICATED_ID", "STORAGE_ERROR", "DATABASE_ERROR"]},
              "message": {"type": "string"}}}}}}}
})";

constexpr const char* email = R"({
  "type": "object",
  "description": "Members without a value are absent.",
  "required": ["id", "status", "reason", "version", "created_at", "updated_at", "attempts", "from", "recipients", "tags",
               "payload_path"],
  "properties": {
    "id": {"type": "string"},
    "status": {"$ref": "#/components/schemas/State"},
    "reason": {"type": "string", "description": "Of the state; empty where there is nothing to say."},
    "version": {"type": "integer", "description": "One more with each state."},
    "created_at": {"type": "string", "format": "date-time"},
    "updated_at": {"type": "string", "format": "date-time"},
    "attempts": {"type": "integer", "description": "At sending, begun."},
    "from": {"type": "string"},
    "recipients": {"type": "array", "items": {"$ref": "#/components/schemas/Recipient"}},
    "tags": {"type": "array", "items": {"type": "string"}},
    "send_at": {"type": "string", "format": "date-time"},
    "next_attempt_at": {"type": "string", "format": "date-time", "description": "While it waits to be sent."},
    "tenant": {"type": "string"},
    "outcome_unknown": {"type": "boolean", "description": "It may have been sent: the server's last word was lost."},
    "held_from": {"$ref": "#/components/schemas/State"},
    "callback": {
      "type": "object", "required": ["attempts", "dead"],
      "properties": {
        "url": {"type": "string"},
        "attempts": {"type": "integer"},
        "dead": {"type": "boolean", "description": "Given up; it can be replayed."},
        "last_error": {"type": "string"}}},
    "bounces": {"type": "array", "items": {"$ref": "#/components/schemas/Bounce"}},
    "payload_path": {"type": "string"},
    "message_path": {"type": "string"}
  }
})";

constexpr const char* recipient = R"({
  "type": "object", "required": ["address", "status"],
  "properties": {
    "address": {"type": "string"},
    "status": {"type": "string", "enum": ["pending", "delivered", "refused", "suppressed"]},
    "reply": {"type": "string", "description": "What the server said, or why the address is suppressed."}}
})";

constexpr const char* bounce = R"({
  "type": "object", "required": ["recipient", "status", "diagnostic", "permanent"],
  "properties": {
    "recipient": {"type": "string"},
    "status": {"type": "string", "description": "Enhanced status code.", "examples": ["5.1.1"]},
    "diagnostic": {"type": "string"},
    "permanent": {"type": "boolean"},
    "at": {"type": "string", "format": "date-time"}}
})";

constexpr const char* email_with_history = R"({
  "allOf": [
    {"$ref": "#/components/schemas/Email"},
    {"type": "object", "required": ["history"], "properties": {
      "history": {
        "type": "array", "description": "Oldest first.",
        "items": {
          "type": "object", "required": ["status", "at", "reason"],
          "properties": {
            "status": {"type": "string", "description": "A state, or BOUNCED."},
            "at": {"type": "string", "format": "date-time"},
            "reason": {"type": "string"}}}}}}
  ]
})";

constexpr const char* email_list = R"({
  "type": "object", "required": ["data"],
  "properties": {"data": {"type": "array", "items": {"$ref": "#/components/schemas/Email"}}}
})";

constexpr const char* bounce_message = R"({
  "type": "object", "required": ["message"], "additionalProperties": false,
  "properties": {"message": {"type": "string", "description": "The report as it came, headers and all."}}
})";

constexpr const char* bounce_outcome = R"({
  "type": "object", "required": ["email_id", "bounces", "suppressed"],
  "properties": {
    "email_id": {"type": "string"},
    "bounces": {"type": "array", "items": {"$ref": "#/components/schemas/Bounce"}},
    "suppressed": {"type": "array", "items": {"type": "string"}, "description": "Addresses that get no more mail."}}
})";

constexpr const char* suppression = R"({
  "type": "object", "required": ["address", "reason", "since"],
  "properties": {
    "address": {"type": "string"}, "reason": {"type": "string"}, "since": {"type": "string", "format": "date-time"}}
})";

constexpr const char* mailbox_entry = R"({
  "type": "object", "required": ["id", "received_at", "from", "to", "subject", "size"],
  "properties": {
    "id": {"type": "string", "description": "Of the e-mail."},
    "received_at": {"type": "string", "format": "date-time"},
    "from": {"type": "string"},
    "to": {"type": "array", "items": {"type": "string"}, "description": "Of the envelope."},
    "subject": {"type": "string"},
    "size": {"type": "integer", "description": "In bytes."}}
})";

constexpr const char* problem = R"({
  "type": "object",
  "description": "RFC 9457.",
  "required": ["type", "title", "status", "detail", "code", "request_id"],
  "properties": {
    "type": {"type": "string", "format": "uri", "examples": ["urn:postino:problem:WRONG_STATE"]},
    "title": {"type": "string"},
    "status": {"type": "integer"},
    "detail": {"type": "string", "description": "For people."},
    "code": {"type": "string", "description": "For programs.", "examples": ["WRONG_STATE"]},
    "errors": {
      "type": "array",
      "items": {
        "type": "object", "required": ["field", "rule"],
        "properties": {
          "field": {"type": "string", "examples": ["data[0].to[0]"]},
          "rule": {"type": "string", "examples": ["is required"]}}}},
    "endpoints": {
      "type": "array", "description": "Of a broker, that were tried in vain.",
      "items": {
        "type": "object", "required": ["endpoint", "reason"],
        "properties": {
          "endpoint": {"type": "string", "examples": ["broker.example.org:5671"]},
          "reason": {"type": "string", "examples": ["connection refused"]}}}},
    "request_id": {"type": "string"}}
})";

// A page of elements of another schema.
std::string page_of(std::string_view element) {
  return std::string(R"({"type":"object","required":["data","cursor"],"properties":{)")
      .append(R"("data":{"type":"array","items":{"$ref":"#/components/schemas/)")
      .append(element)
      .append(R"("}},"cursor":{"type":["string","null"],"description":"Of the next page; null at the end."}}})");
}

std::vector<Schema> outbox_schemas() {
  return {
      {"Payload", payload},
      {"Mailbox", mailbox},
      {"Mailboxes", mailboxes},
      {"Attachment", attachment},
      {"EmailBatch", email_batch},
      {"Acceptance", acceptance},
      {"State", state_schema()},
      {"Email", email},
      {"Recipient", recipient},
      {"Bounce", bounce},
      {"EmailWithHistory", email_with_history},
      {"EmailList", email_list},
      {"EmailPage", page_of("Email")},
      {"Counts", counts_schema()},
      {"Reason",
       R"({"type":"object","additionalProperties":false,"properties":{"reason":{"type":"string","maxLength":1000}}})"},
      {"Nothing", R"({"type":"object","additionalProperties":false})"},
      {"BounceMessage", bounce_message},
      {"BounceOutcome", bounce_outcome},
      {"Suppression", suppression},
      {"SuppressionPage", page_of("Suppression")},
      {"MailboxEntry", mailbox_entry},
      {"MailboxPage", page_of("MailboxEntry")},
      {"Removal", R"({"type":"object","required":["removed"],"properties":{"removed":{"type":"integer"}}})"},
      {"Health", R"({"type":"object","required":["status"],"properties":{"status":{"type":"string","const":"ok"}}})"},
      {"Description", R"({"type":"object"})"},
      {"Problem", problem},
  };
}

}  // namespace

const std::vector<Schema>& all_schemas() {
  static const std::vector<Schema> schemas = [] {
    std::vector<Schema> all = outbox_schemas();
    for (Schema& schema : message_schemas()) all.push_back(std::move(schema));
    return all;
  }();
  return schemas;
}

}  // namespace postino::api
