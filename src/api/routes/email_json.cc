#include "api/routes/email_json.h"

#include "base/timestamp.h"
#include "net/url.h"

namespace postino::api {

namespace {

using outbox::Email;

constexpr std::size_t usual_bytes = 1024;  // of an e-mail

std::string_view reason_of(const Email& email, Role role) {
  return has_right(role, Right::operate) ? std::string_view(email.reason) : public_reason(email);
}

void write_time(json::Writer& json, std::string_view name, base::TimePoint time) {
  json.key(name).string(base::format_timestamp(time));
}

void write_time(json::Writer& json, std::string_view name, const std::optional<base::TimePoint>& time) {
  if (time) write_time(json, name, *time);
}

void write_text(json::Writer& json, std::string_view name, const std::string& text) {
  if (!text.empty()) json.key(name).string(text);
}

void write_recipients(json::Writer& json, const Email& email) {
  json.key("recipients").begin_array();
  for (const outbox::Recipient& recipient : email.recipients) {
    json.begin_object();
    json.key("address").string(recipient.address);
    json.key("status").string(name_of(recipient.state));
    write_text(json, "reply", recipient.reply);
    json.end_object();
  }
  json.end_array();
}

void write_tags(json::Writer& json, const Email& email) {
  json.key("tags").begin_array();
  for (const std::string& tag : email.tags) json.string(tag);
  json.end_array();
}

void write_callback(json::Writer& json, const Email& email) {
  if (email.callback_url.empty() && email.callback_attempts == 0 && !email.callback_dead) return;
  json.key("callback").begin_object();
  write_text(json, "url", net::without_credentials(email.callback_url));
  json.key("attempts").integer(email.callback_attempts);
  json.key("dead").boolean(email.callback_dead);
  write_text(json, "last_error", email.callback_error);
  json.end_object();
}

void write_bounces(json::Writer& json, const Email& email) {
  if (email.bounces.empty()) return;
  json.key("bounces").begin_array();
  for (const outbox::Bounce& bounce : email.bounces) {
    json.begin_object();
    json.key("recipient").string(bounce.recipient);
    json.key("status").string(bounce.status);
    json.key("diagnostic").string(bounce.diagnostic);
    json.key("permanent").boolean(bounce.permanent);
    write_time(json, "at", bounce.at);
    json.end_object();
  }
  json.end_array();
}

// When it is due, in the states in which that means an attempt at sending.
std::optional<base::TimePoint> next_attempt_of(const Email& email) {
  const bool waits = email.state == outbox::State::accepted || email.state == outbox::State::ready;
  return waits ? email.due_at : std::nullopt;
}

void write_members(json::Writer& json, const Email& email, Role role) {
  json.key("id").string(email.id);
  json.key("status").string(name_of(email.state));
  json.key("reason").string(reason_of(email, role));
  json.key("version").integer(email.version);
  write_time(json, "created_at", email.created_at);
  write_time(json, "updated_at", email.updated_at);
  json.key("attempts").integer(email.attempts);
  json.key("from").string(email.sender);
  json.key("subject").string(email.subject);
  write_recipients(json, email);
  write_tags(json, email);
  write_time(json, "send_at", email.send_at);
  write_time(json, "next_attempt_at", next_attempt_of(email));
  write_text(json, "tenant", email.tenant);
  if (is_partly_sent(email)) json.key("partly_sent").boolean(true);
  // It is written before an attempt begins, in case that its end is never told.
  if (email.outcome_unknown && email.state != outbox::State::processing) json.key("outcome_unknown").boolean(true);
  if (email.held_from) json.key("held_from").string(name_of(*email.held_from));
  write_callback(json, email);
  write_bounces(json, email);
  json.key("payload_path").string(email.payload_path);
  write_text(json, "message_path", email.message_path);
}

void write_data(json::Writer& json, const std::vector<Email>& emails, Role role) {
  json.key("data").begin_array();
  for (const Email& email : emails) {
    json.begin_object();
    write_members(json, email, role);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_cursor(json::Writer& json, const std::string& cursor) {
  json.key("cursor");
  if (cursor.empty())
    json.null();
  else
    json.string(cursor);
}

std::string to_json(const outbox::ShownEmail& shown, Role role) {
  const Email& email = shown.email;
  std::string text;
  text.reserve(2 * usual_bytes);
  json::Writer json(text);
  json.begin_object();
  write_members(json, email, role);
  json.key("history").begin_array();
  for (const outbox::HistoryEntry& entry : shown.history) {
    json.begin_object();
    json.key("status").string(entry.status);
    write_time(json, "at", entry.at);
    json.key("reason").string(entry.reason == email.reason ? reason_of(email, role) : entry.reason);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return text;
}

std::string to_json(const outbox::EmailPage& page, Role role) {
  std::string text;
  text.reserve((page.emails.size() + 1) * usual_bytes);
  json::Writer json(text);
  json.begin_object();
  write_data(json, page.emails, role);
  write_cursor(json, page.cursor);
  json.end_object();
  return text;
}

std::string to_json(const std::vector<Email>& emails, Role role) {
  std::string text;
  text.reserve((emails.size() + 1) * usual_bytes);
  json::Writer json(text);
  json.begin_object();
  write_data(json, emails, role);
  json.end_object();
  return text;
}

}  // namespace postino::api
