#include <algorithm>
#include <cmath>
#include <limits>
#include <proton/annotation_key.hpp>
#include <proton/binary.hpp>
#include <proton/error.hpp>
#include <proton/map.hpp>
#include <proton/message.hpp>
#include <proton/message_id.hpp>
#include <proton/scalar.hpp>
#include <proton/symbol.hpp>
#include <proton/timestamp.hpp>
#include <proton/value.hpp>

#include "base/timestamp.h"
#include "broker/message_codec.h"
#include "json/string.h"

namespace postino::broker {

namespace {

constexpr std::int64_t most_milliseconds = std::numeric_limits<std::uint32_t>::max();

Result<std::string> checked_text(std::string_view name, const std::string& text) {
  if (text.size() > longest_message_text)
    return refuse_invalid(std::string(name) + " must not be longer than " + std::to_string(longest_message_text) +
                          " bytes");
  if (!json::is_utf8(text)) return refuse_invalid(std::string(name) + " must be UTF-8");
  return text;
}

Result<std::string> text_header(const std::string& name, const Scalar& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return refuse_invalid("header " + name + " must be a string");
  return checked_text("header " + name, *text);
}

Result<std::int64_t> integer_header(const std::string& name, const Scalar& value, std::int64_t least,
                                    std::int64_t most) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer == nullptr || *integer < least || *integer > most)
    return refuse_invalid("header " + name + " must be an integer from " + std::to_string(least) + " to " +
                          std::to_string(most));
  return *integer;
}

using Setter = Result<void> (*)(proton::message&, const std::string& name, const Scalar& value);

template <void (proton::message::*member)(const std::string&)>
Result<void> set_text(proton::message& message, const std::string& name, const Scalar& value) {
  TRY(const std::string text, text_header(name, value));
  (message.*member)(text);
  return {};
}

Result<void> set_durable(proton::message& message, const std::string& name, const Scalar& value) {
  const auto* flag = std::get_if<bool>(&value);
  if (flag == nullptr) return refuse_invalid("header " + name + " must be true or false");
  message.durable(*flag);
  return {};
}

Result<void> set_priority(proton::message& message, const std::string& name, const Scalar& value) {
  TRY(const std::int64_t priority, integer_header(name, value, 0, 255));
  message.priority(static_cast<std::uint8_t>(priority));
  return {};
}

Result<void> set_time_to_live(proton::message& message, const std::string& name, const Scalar& value) {
  TRY(const std::int64_t time, integer_header(name, value, 1, most_milliseconds));
  message.ttl(proton::duration(static_cast<proton::duration::numeric_type>(time)));
  return {};
}

Result<void> set_expiry(proton::message& message, const std::string& name, const Scalar& value) {
  TRY(const std::string text, text_header(name, value));
  const auto time = base::parse_timestamp(text);
  if (!time) return refuse_invalid("header " + name + ": " + time.error().message);
  message.expiry_time(proton::timestamp(base::epoch_milliseconds(*time)));
  return {};
}

Result<void> set_group_sequence(proton::message& message, const std::string& name, const Scalar& value) {
  TRY(const std::int64_t number, integer_header(name, value, 0, std::numeric_limits<std::uint32_t>::max()));
  message.group_sequence(static_cast<std::int32_t>(static_cast<std::uint32_t>(number)));
  return {};
}

Result<void> ignore(proton::message&, const std::string&, const Scalar&) { return {}; }

struct Header {
  std::string_view name;
  Setter set;
};

constexpr Header known_headers[] = {
    {"durable", set_durable},
    {"priority", set_priority},
    {"ttl", set_time_to_live},
    {"first-acquirer", ignore},
    {"delivery-count", ignore},
    {"subject", set_text<&proton::message::subject>},
    {"to", set_text<&proton::message::to>},
    {"user-id", set_text<&proton::message::user>},
    {"content-encoding", set_text<&proton::message::content_encoding>},
    {"absolute-expiry-time", set_expiry},
    {"group-id", set_text<&proton::message::group_id>},
    {"group-sequence", set_group_sequence},
    {"reply-to-group-id", set_text<&proton::message::reply_to_group_id>},
};

Result<proton::scalar> checked_scalar(const std::string& name, const Scalar& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (!json::is_utf8(*text)) return refuse_invalid(name + " must be UTF-8");
    return proton::scalar(*text);
  }
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return proton::scalar(*integer);
  if (const auto* flag = std::get_if<bool>(&value)) return proton::scalar(*flag);
  return proton::scalar(std::get<double>(value));
}

Result<void> set_headers(const Scalars& headers, proton::message& out) {
  for (const auto& [name, value] : headers) {
    const auto* known = std::ranges::find(known_headers, name, &Header::name);
    if (known != std::end(known_headers)) {
      TRY_VOID(known->set(out, name, value));
    } else if (name.starts_with("x-") && json::is_utf8(name)) {
      TRY(const proton::scalar annotation, checked_scalar("header " + name, value));
      out.message_annotations().put(proton::symbol(name), annotation);
    } else {
      return refuse_invalid("unknown header '" + name.substr(0, longest_message_text) + "'");
    }
  }
  return {};
}

Result<void> set_properties(const Message& message, proton::message& out) {
  if (!message.id.empty()) {
    TRY(const std::string id, checked_text("the message id", message.id));
    out.id(id);
  }
  if (!message.correlation_id.empty()) {
    TRY(const std::string id, checked_text("the correlation id", message.correlation_id));
    out.correlation_id(id);
  }
  if (!message.reply_to.empty()) {
    TRY(const std::string address, checked_text("reply to", message.reply_to));
    out.reply_to(address);
  }
  if (message.created_at) out.creation_time(proton::timestamp(base::epoch_milliseconds(*message.created_at)));
  for (const auto& [name, value] : message.properties) {
    if (name.empty() || !json::is_utf8(name))
      return refuse_invalid("the name of a property must be a string in UTF-8 that is not empty");
    TRY(const proton::scalar property, checked_scalar("property " + name, value));
    out.properties().put(name, property);
  }
  return {};
}

std::string_view usual_type(Format format) {
  switch (format) {
    case Format::text:
      return "text/plain";
    case Format::json:
      return "application/json";
    case Format::binary:
      break;
  }
  return "application/octet-stream";
}

Result<void> set_body(const Message& message, bool text_as_value, proton::message& out) {
  const bool is_text = message.format != Format::binary;
  if (is_text && !json::is_utf8(message.body))
    return refuse_invalid("the body must be UTF-8 unless its format is BINARY");
  TRY(const std::string type, checked_text("the content type", message.content_type));
  out.content_type(type.empty() ? std::string(usual_type(message.format)) : type);
  if (is_text && text_as_value) {
    out.body(message.body);
    return {};
  }
  out.inferred(true);
  out.body(proton::binary(message.body));
  return {};
}

Result<void> set_delay(const Encoding& encoding, proton::message& out) {
  if (!encoding.delay || *encoding.delay == Milliseconds(0)) return {};
  if (encoding.schedule_for_azure) {
    const base::TimePoint due = encoding.now + *encoding.delay;
    out.message_annotations().put(proton::symbol("x-opt-scheduled-enqueue-time"),
                                  proton::timestamp(base::epoch_milliseconds(due)));
  } else {
    out.message_annotations().put(proton::symbol("x-opt-delivery-delay"), encoding.delay->count());
  }
  return {};
}

}  // namespace

Result<std::vector<char>> encode(const Message& message, const Encoding& encoding) {
  try {
    proton::message out;
    out.durable(encoding.persistent);
    if (encoding.time_to_live) {
      if (encoding.time_to_live->count() < 1 || encoding.time_to_live->count() > most_milliseconds)
        return refuse_invalid("the time to live must be from 1 ms to 49 days");
      out.ttl(proton::duration(static_cast<proton::duration::numeric_type>(encoding.time_to_live->count())));
    }
    TRY_VOID(set_headers(message.headers, out));
    TRY_VOID(set_properties(message, out));
    TRY_VOID(set_delay(encoding, out));
    TRY_VOID(set_body(message, encoding.text_as_value, out));
    return out.encode();
  } catch (const proton::error& error) {
    return refuse_invalid(std::string("the message cannot be written: ") + error.what());
  }
}

}  // namespace postino::broker
