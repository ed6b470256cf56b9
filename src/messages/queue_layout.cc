#include "messages/queue_layout.h"

#include <charconv>
#include <vector>

#include "broker/message_codec.h"
#include "item/attribute_text.h"

namespace postino::messages {

namespace {

constexpr std::size_t time_digits = 13;  // milliseconds, until the year 2286
constexpr std::size_t number_digits = 6;
constexpr std::string_view dead_suffix = ".dead";

std::string padded(std::int64_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return text;
}

std::int64_t integer_in(const item::Item& item, std::string_view name) {
  const item::AttributeValue* value = item.find(name);
  const item::Number* number = value != nullptr ? value->get_if<item::Number>() : nullptr;
  return number != nullptr ? number->to_int64().value_or(0) : 0;
}

}  // namespace

std::string shelf_name(Shelf shelf, std::string_view queue) {
  static constexpr std::string_view names[shelf_count] = {"ready/", "later/", "held/"};
  return std::string(names[static_cast<std::size_t>(shelf)]).append(queue);
}

std::string counts_name(std::string_view queue) { return std::string("counts/").append(queue); }

std::optional<std::string> dead_queue(std::string_view queue) {
  if (queue.ends_with(dead_suffix)) return std::nullopt;
  return std::string(queue).append(dead_suffix);
}

std::string position_at(base::TimePoint time) {
  return padded(std::max<std::int64_t>(base::epoch_milliseconds(time), 0), time_digits);
}

std::string position_of(base::TimePoint time, std::uint32_t number, std::string_view tag) {
  return position_at(time).append("-").append(padded(number, number_digits)).append("-").append(tag);
}

std::string held_position(base::TimePoint lease_end, const std::string& ready_position) {
  return position_at(lease_end).append("-").append(ready_position);
}

base::TimePoint time_of(std::string_view position) {
  std::int64_t time = 0;
  const std::string_view digits = position.substr(0, time_digits);
  std::from_chars(digits.data(), digits.data() + digits.size(), time);
  return base::from_epoch_milliseconds(time);
}

item::Key key_of(const StoredMessage& message) {
  return {{"Shelf", shelf_name(message.shelf, message.queue)}, {"Position", message.position}};
}

item::Item to_item(const StoredMessage& message) {
  item::Item item = key_of(message);
  item.set("Content", item::Binary{message.content});
  item.set("Deliveries", message.deliveries);
  if (!message.id.empty()) item.set("MessageId", message.id);
  if (message.expires_at) item.set("ExpiresAt", base::epoch_milliseconds(*message.expires_at));
  if (message.shelf == Shelf::held) {
    item.set("ReadyPosition", message.ready_position);
    item.set("LeaseOwner", message.owner);
  }
  return item;
}

StoredMessage stored_message(Shelf shelf, const std::string& queue, const item::Item& item) {
  StoredMessage message;
  message.shelf = shelf;
  message.queue = queue;
  message.position = item::attribute_text(item, "Position");
  if (const item::AttributeValue* content = item.find("Content"); content != nullptr)
    if (const auto* bytes = content->get_if<item::Binary>()) message.content = bytes->bytes;
  message.id = item::attribute_text(item, "MessageId");
  message.deliveries = integer_in(item, "Deliveries");
  if (item.contains("ExpiresAt")) message.expires_at = base::from_epoch_milliseconds(integer_in(item, "ExpiresAt"));
  message.ready_position = item::attribute_text(item, "ReadyPosition");
  message.owner = item::attribute_text(item, "LeaseOwner");
  return message;
}

broker::Message to_message(const StoredMessage& stored) {
  broker::Message message = broker::decode(std::vector<char>(stored.content.begin(), stored.content.end()));
  const std::int64_t in_vain = std::max<std::int64_t>(stored.deliveries - 1, 0);
  message.headers["first-acquirer"] = in_vain == 0;
  message.headers["delivery-count"] = in_vain;
  return message;
}

}  // namespace postino::messages
