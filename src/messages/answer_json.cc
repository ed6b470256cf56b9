#include "messages/answer_json.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/base64.h"
#include "base/timestamp.h"
#include "json/fields.h"
#include "messages/iso_duration.h"

namespace postino::messages {

namespace {

using broker::Format;
using broker::Message;

std::string_view name_of(Format format) {
  if (format == Format::text) return "TEXT";
  return format == Format::json ? "JSON" : "BINARY";
}

// Text and JSON as they are, bytes in base64.
std::string body_text(const Message& message) {
  return message.format == Format::binary ? base::to_base64(message.body) : message.body;
}

void write_scalar(json::Writer& json, const broker::Scalar& scalar) {
  if (const auto* text = std::get_if<std::string>(&scalar)) {
    json.string(*text);
  } else if (const auto* integer = std::get_if<std::int64_t>(&scalar)) {
    json.integer(*integer);
  } else if (const auto* flag = std::get_if<bool>(&scalar)) {
    json.boolean(*flag);
  } else if (const double number = std::get<double>(scalar); std::isfinite(number)) {
    std::array<char, 32> digits{};
    json.raw({digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr});
  } else {
    json.null();  // JSON has no word for it
  }
}

void write_scalars(json::Writer& json, std::string_view name, const broker::Scalars& scalars) {
  json.key(name).begin_object();
  for (const auto& [key, value] : scalars) {
    json.any_key(key);
    write_scalar(json, value);
  }
  json.end_object();
}

void write_text(json::Writer& json, std::string_view name, const std::string& text) {
  if (!text.empty()) json.key(name).string(text);
}

void write_message(json::Writer& json, const Message& message) {
  json.begin_object();
  json.key("messageId");
  if (message.id.empty())
    json.null();
  else
    json.string(message.id);
  json.key("body").string(body_text(message));
  json.key("format").string(name_of(message.format));
  write_scalars(json, "properties", message.properties);
  write_scalars(json, "headers", message.headers);
  write_text(json, "correlationId", message.correlation_id);
  write_text(json, "replyTo", message.reply_to);
  write_text(json, "contentType", message.content_type);
  if (message.created_at) json.key("createdAt").string(base::format_timestamp(*message.created_at));
  write_text(json, "fault", message.fault);
  json.end_object();
}

// What JSON makes of a text at most: a letter becomes up to six.
std::size_t largest_size_of(std::string_view text) { return 6 * text.size() + 16; }

std::size_t largest_size_of(const broker::Scalars& scalars) {
  constexpr std::size_t other_scalar = 32;  // a number or a flag
  std::size_t size = 32;
  for (const auto& [name, value] : scalars) {
    const auto* text = std::get_if<std::string>(&value);
    size += largest_size_of(name) + (text != nullptr ? largest_size_of(*text) : other_scalar);
  }
  return size;
}

// A body can be large, so that it is counted letter by letter.
std::size_t size_of_body(const Message& message) {
  if (message.format == Format::binary) return (message.body.size() + 2) / 3 * 4;
  std::size_t size = message.body.size();
  for (const char letter : message.body) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x20 || byte == 0x7F) size += 5;
    if (letter == '"' || letter == '\\') ++size;
  }
  return size;
}

std::size_t largest_size_of(const Message& message) {
  constexpr std::size_t names = 256;  // of the members, and times
  return names + largest_size_of(message.id) + size_of_body(message) + largest_size_of(message.properties) +
         largest_size_of(message.headers) + largest_size_of(message.correlation_id) +
         largest_size_of(message.reply_to) + largest_size_of(message.content_type) + largest_size_of(message.fault);
}

// Leaves the metadata open.
void write_head(json::Writer& json, const AnswerHead& head) {
  json.begin_object();
  json.key("idempotencyKey").string(head.key);
  json.key("operationType").string(head.operation);
  json.key("requestedMessages").integer(static_cast<std::int64_t>(head.requested));
  json.key("processedMessages").integer(static_cast<std::int64_t>(head.processed));
  json.key("startedAt").string(base::format_timestamp(head.started));
  json.key("completedAt").string(base::format_timestamp(head.completed));
  json.key("elapsed").string(format_duration(std::max(head.completed - head.started, base::Milliseconds(0))));
  json.key("metadata").begin_object();
  json.key("connection").string(head.connection);
  json.key("queueName").string(head.queue);
}

std::string mark(std::string_view id, std::string_view body) {
  return id.empty() ? "" : std::string(id).append("\n").append(body);
}

}  // namespace

std::string render_answer(const AnswerHead& head, const ProduceOutcome& outcome) {
  std::string text;
  json::Writer json(text);
  write_head(json, head);
  json.key("firstMessageId").string(outcome.first_id);
  json.key("lastMessageId").string(outcome.last_id);
  json.key("resumedFrom").integer(static_cast<std::int64_t>(outcome.resumed_from));
  json.key("sentAgain").integer(static_cast<std::int64_t>(outcome.sent_again));
  json.end_object();
  json.end_object();
  return text;
}

std::size_t largest_size_of(const AnswerHead& head, const ConsumeOutcome& outcome) {
  constexpr std::size_t names = 1'024;  // of the members, numbers and times
  std::size_t size = names + largest_size_of(head.key) + largest_size_of(head.connection) + largest_size_of(head.queue);
  for (std::size_t i = 0; i < outcome.messages.size(); ++i)
    if (outcome.taken[i]) size += largest_size_of(outcome.messages[i]);
  return size;
}

std::string render_answer(const AnswerHead& head, const ConsumeOutcome& outcome, std::size_t most_bytes) {
  std::string text;
  text.reserve(most_bytes);  // a text that grows holds up to three times as much
  json::Writer json(text);
  write_head(json, head);
  json.key("acknowledged").boolean(outcome.acknowledged);
  json.key("tooLarge").integer(static_cast<std::int64_t>(outcome.messages.size() - head.processed));
  json.end_object();
  json.key("messages").begin_array();
  for (std::size_t i = 0; i < outcome.messages.size(); ++i)
    if (outcome.taken[i]) write_message(json, outcome.messages[i]);
  json.end_array();
  json.end_object();
  return text;
}

std::string mark_of(const Message& message) { return mark(message.id, body_text(message)); }

std::multiset<std::string> marks_in(std::string_view answer) {
  using Need = json::Fields::Need;
  std::multiset<std::string> marks;
  json::FieldErrors errors;
  json::Document document;
  if (!document.parse(answer, errors)) return marks;
  json::Fields fields(document.root(), "", errors);
  const auto messages = fields.list("messages", Need::optional, RequestLimits::max_messages);
  for (std::size_t i = 0; messages && i < messages->size(); ++i) {
    json::Fields message((*messages)[i], "", errors);
    const std::string_view id = message.text("messageId", Need::optional).value_or("");
    const auto body = message.text("body", Need::required, std::string_view::npos);
    if (!id.empty() && body) marks.insert(mark(id, *body));
  }
  return marks;
}

}  // namespace postino::messages
