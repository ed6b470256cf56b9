#include "broker/queue_address.h"

#include "base/check.h"
#include "base/text.h"
#include "json/string.h"

namespace postino::broker {

namespace {

// RabbitMQ's plugin takes each character of the address for one byte of the queue's name.
Result<std::string> rabbitmq_name(std::string_view queue) {
  if (queue.find("%2F") != queue.npos)
    return refuse(FailureKind::invalid, "RabbitMQ before 4.0 cannot address a queue with %2F in its name");
  std::string name;
  for (const char letter : queue) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '/') {
      name += "%2F";
    } else if (byte < 0x80) {
      name += letter;
    } else {
      name += static_cast<char>(0xC0 | byte >> 6);
      name += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return name;
}

Result<void> check_name(std::string_view queue) {
  if (queue.empty()) return refuse(FailureKind::invalid, "the name of the queue is empty");
  if (queue.size() > longest_queue_name)
    return refuse(FailureKind::invalid,
                  "the name of the queue is longer than " + std::to_string(longest_queue_name) + " bytes");
  if (!json::is_utf8(queue)) return refuse(FailureKind::invalid, "the name of the queue is not UTF-8");
  if (base::has_control_character(queue))
    return refuse(FailureKind::invalid, "the name of the queue has control characters");
  return {};
}

}  // namespace

AddressStyle choose_style(AddressStyle style, const Peer& peer) {
  if (style != AddressStyle::automatic) return style;
  if (peer.is_rabbitmq_before_4()) return AddressStyle::rabbitmq;
  return peer.is_rabbitmq() ? AddressStyle::rabbitmq_4 : AddressStyle::bare;
}

Result<std::string> queue_address(std::string_view queue, AddressStyle style, std::string_view prefix) {
  TRY_VOID(check_name(queue));
  switch (style) {
    case AddressStyle::rabbitmq: {
      TRY(const std::string name, rabbitmq_name(queue));
      return "/amq/queue/" + name;
    }
    case AddressStyle::rabbitmq_declare: {
      TRY(const std::string name, rabbitmq_name(queue));
      return "/queue/" + name;
    }
    case AddressStyle::rabbitmq_4:
      return "/queues/" + base::encode_percent(queue);
    case AddressStyle::bare:
      return std::string(prefix).append(queue);
    case AddressStyle::automatic:
      break;
  }
  CHECK(false);
}

}  // namespace postino::broker
