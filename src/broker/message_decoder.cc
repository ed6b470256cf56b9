#include <proton/annotation_key.hpp>
#include <proton/binary.hpp>
#include <proton/error.hpp>
#include <proton/map.hpp>
#include <proton/message.hpp>
#include <proton/message_id.hpp>
#include <proton/scalar.hpp>
#include <proton/symbol.hpp>
#include <proton/timestamp.hpp>
#include <proton/types.hpp>
#include <proton/uuid.hpp>

#include "base/text.h"
#include "base/timestamp.h"
#include "broker/message_codec.h"
#include "broker/protocol/amqp_syntax.h"
#include "broker/protocol/value_text.h"
#include "json/string.h"

namespace postino::broker {

namespace {

// The type alone, without parameters: "text/plain".
std::string media_type(std::string_view content_type) {
  std::string type = base::lower_case(content_type.substr(0, content_type.find(';')));
  type.erase(type.find_last_not_of(" \t") + 1);
  return type;
}

Format format_of(std::string_view content_type, const std::string& body, bool is_value) {
  const std::string type = media_type(content_type);
  if (!json::is_utf8(body)) return Format::binary;
  if (type == "application/json" || type.ends_with("+json")) return Format::json;
  if (is_value || type.starts_with("text/") || type == "application/xml" || type.ends_with("+xml")) return Format::text;
  return Format::binary;
}

void read_headers(const proton::message& message, Scalars& headers) {
  headers["durable"] = message.durable();
  headers["priority"] = static_cast<std::int64_t>(message.priority());
  headers["first-acquirer"] = message.first_acquirer();
  headers["delivery-count"] = static_cast<std::int64_t>(message.delivery_count());
  if (message.ttl().milliseconds() != 0) headers["ttl"] = static_cast<std::int64_t>(message.ttl().milliseconds());
  const auto keep = [&](const char* name, std::string text) {
    if (!text.empty()) headers[name] = readable(std::move(text));
  };
  keep("subject", message.subject());
  keep("to", message.to());
  keep("user-id", message.user());
  keep("content-encoding", message.content_encoding());
  keep("group-id", message.group_id());
  keep("reply-to-group-id", message.reply_to_group_id());
  if (!message.group_id().empty())
    headers["group-sequence"] = static_cast<std::int64_t>(static_cast<std::uint32_t>(message.group_sequence()));
  if (message.expiry_time().milliseconds() != 0)
    headers["absolute-expiry-time"] =
        base::format_timestamp(base::from_epoch_milliseconds(message.expiry_time().milliseconds()));
}

void read_map(const proton::value& map, Scalars& out) {
  if (map.empty() || map.type() != proton::MAP) return;
  for (const auto& [key, value] : proton::get<std::map<proton::value, proton::value>>(map))
    if (value.type() != proton::NULL_TYPE) out[text_of(key)] = scalar_of(value);
}

void read_body(const proton::message& message, Message& out) {
  const proton::value& body = message.body();
  bool is_value = false;
  if (body.empty()) return;
  switch (body.type()) {
    case proton::BINARY: {
      const auto bytes = proton::get<proton::binary>(body);
      out.body.assign(bytes.begin(), bytes.end());
      break;
    }
    case proton::STRING:
      out.body = proton::get<std::string>(body);
      is_value = true;
      break;
    default:
      out.body = json_of(body);
      out.format = Format::json;
      return;
  }
  out.format = format_of(out.content_type, out.body, is_value);
}

}  // namespace

Message decode(std::vector<char> bytes) {
  const auto damaged = [&](std::string_view why) {
    Message message;
    message.format = Format::binary;
    message.body.assign(bytes.begin(), bytes.end());
    message.fault = std::string("not a message of AMQP 1.0: ").append(why);
    return message;
  };
  if (!is_made_of_sections({bytes.data(), bytes.size()})) return damaged("it does not consist of whole sections");
  Message out;
  if (bytes.empty()) return out;
  try {
    proton::message message;
    message.decode(bytes);
    out.id = text_of(message.id());
    out.correlation_id = text_of(message.correlation_id());
    out.reply_to = readable(message.reply_to());
    out.content_type = readable(message.content_type());
    if (message.creation_time().milliseconds() != 0)
      out.created_at = base::from_epoch_milliseconds(message.creation_time().milliseconds());
    read_headers(message, out.headers);
    read_map(message.message_annotations().value(), out.headers);
    read_map(message.properties().value(), out.properties);
    read_body(message, out);
    return out;
  } catch (const proton::error& error) {
    return damaged(error.what());
  }
}

}  // namespace postino::broker
