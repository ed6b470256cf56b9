// What a broker hands out as a message: any bytes. What is read can be written as JSON, and sent on.
#include "base/check.h"
#include "broker/message_codec.h"
#include "json/string.h"
#include "targets.h"

namespace postino::fuzz {

namespace {

using broker::Format;
using broker::Message;

void check_scalars(const broker::Scalars& scalars) {
  for (const auto& [name, value] : scalars) {
    CHECK(json::is_utf8(name));
    if (const auto* text = std::get_if<std::string>(&value)) CHECK(json::is_utf8(*text));
  }
}

void check_text(const Message& message) {
  for (const std::string* text :
       {&message.id, &message.correlation_id, &message.reply_to, &message.content_type, &message.fault})
    CHECK(json::is_utf8(*text));
  if (message.format != Format::binary) CHECK(json::is_utf8(message.body));
  check_scalars(message.headers);
  check_scalars(message.properties);
}

}  // namespace

void fuzz_amqp_message(std::string_view input) {
  const Message message = broker::decode({input.begin(), input.end()});
  check_text(message);
  if (!message.fault.empty()) return;
  const auto bytes = broker::encode(message, {});
  if (!bytes) return;  // what came may break rules that hold for what is sent
  const Message again = broker::decode(*bytes);
  CHECK(again.fault.empty());
  CHECK(again.body == message.body);
  CHECK(again.id == message.id && again.correlation_id == message.correlation_id);
}

}  // namespace postino::fuzz
