#include "messages/queue_layout.h"

#include <charconv>
#include <vector>

#include "base/check.h"
#include "broker/message_codec.h"
#include "item/attribute_text.h"
#include "item/json_codec.h"

namespace postino::messages {

namespace {

constexpr std::size_t time_digits = 13;  // milliseconds, until the year 2286
constexpr std::size_t number_digits = 6;
constexpr std::string_view dead_suffix = ".dead";
constexpr std::int64_t most_deliveries = 1'000'000'000;
constexpr std::int64_t end_of_year_9999 = 253'402'300'799'999;  // milliseconds
constexpr std::size_t most_kept_bytes = 200 << 10;              // of what is no content

std::string padded(std::int64_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return text;
}

std::optional<std::int64_t> integer_in(const item::Item& item, std::string_view name) {
  const item::AttributeValue* value = item.find(name);
  const item::Number* number = value != nullptr ? value->get_if<item::Number>() : nullptr;
  return number != nullptr ? number->to_int64() : std::nullopt;
}

// Another program may have written any number.
std::optional<std::int64_t> integer_within(const item::Item& item, std::string_view name, std::int64_t most) {
  const auto number = integer_in(item, name);
  return number && *number >= 0 && *number <= most ? number : std::nullopt;
}

// What a receiver gets in place of a message that cannot be read.
std::string content_for_fault(const StoredMessage& message, const item::AttributeValue* found) {
  broker::Message substitute;
  substitute.id = message.id;
  substitute.properties[std::string(fault_property)] = message.fault;
  if (found != nullptr) {
    const auto* text = found->get_if<std::string>();
    substitute.body = text != nullptr ? *text : item::to_json(*found);
  }
  if (substitute.body.size() > most_kept_bytes) {
    substitute.body.resize(most_kept_bytes);
    substitute.format = broker::Format::binary;  // it may end within a letter
  }
  auto bytes = broker::encode(substitute, {});
  if (!bytes) {
    substitute.id.clear();  // it may be too long
    bytes = broker::encode(substitute, {});
  }
  CHECK(bytes.has_value());
  return {bytes->begin(), bytes->end()};
}

}  // namespace

std::string shelf_name(Shelf shelf, std::string_view queue) {
  static constexpr std::string_view names[shelf_count] = {"ready/", "later/", "held/"};
  return std::string(names[static_cast<std::size_t>(shelf)]).append(queue);
}

std::optional<ShelfPlace> place_of_shelf(std::string_view name) {
  for (const Shelf shelf : {Shelf::ready, Shelf::later, Shelf::held})
    if (const std::string prefix = shelf_name(shelf, ""); name.starts_with(prefix))
      return ShelfPlace{shelf, std::string(name.substr(prefix.size()))};
  return std::nullopt;
}

std::string counts_name(std::string_view queue) { return std::string("counts/").append(queue); }

std::size_t longest_name_like(std::string_view queue) {
  return longest_stored_queue_name + (queue.ends_with(dead_suffix) ? dead_suffix.size() : 0);
}

std::optional<std::string> dead_queue(std::string_view queue) {
  if (queue.ends_with(dead_suffix)) return std::nullopt;
  return std::string(queue).append(dead_suffix);
}

std::string position_from(base::TimePoint time) {
  return time == base::TimePoint() ? std::string(1, '\0') : position_at(time);
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

bool begins_with_time(std::string_view position) {
  const std::string_view digits = position.substr(0, time_digits);
  return digits.size() == time_digits && digits.find_first_not_of("0123456789") == digits.npos;
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
  message.id = item::attribute_text(item, "MessageId");
  message.deliveries = integer_within(item, "Deliveries", most_deliveries).value_or(0);
  if (const auto expiry = integer_within(item, "ExpiresAt", end_of_year_9999))
    message.expires_at = base::from_epoch_milliseconds(*expiry);
  message.ready_position = item::attribute_text(item, "ReadyPosition");
  message.owner = item::attribute_text(item, "LeaseOwner");
  const item::AttributeValue* content = item.find("Content");
  const item::Binary* bytes = content != nullptr ? content->get_if<item::Binary>() : nullptr;
  if (bytes != nullptr && !bytes->bytes.empty()) {
    message.content = bytes->bytes;
    return message;
  }
  message.fault = content == nullptr ? "the attribute Content is missing" : "the attribute Content is not a message";
  message.content = content_for_fault(message, content);
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
