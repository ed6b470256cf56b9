#include "store/place_form.h"

#include <utility>

#include "item/attribute_text.h"

namespace postino::store {

namespace {

constexpr std::string_view shards_attribute = "shards";

bool is_sequence(const StreamPlace& place) { return place.positions.size() == 1 && place.positions.contains(""); }

// What a shard's position is written as: that of a shard that has not begun is empty.
std::optional<SequenceNumber> position_in(std::string_view text) {
  return text.empty() ? SequenceNumber() : SequenceNumber::parse(text);
}

bool add_position(StreamPlace& place, std::string_view shard, std::string_view text) {
  const std::optional<SequenceNumber> position = position_in(text);
  if (shard.empty() || !position) return false;
  place.positions.insert_or_assign(std::string(shard), *position);
  return true;
}

}  // namespace

void put_place(item::Item& item, const std::string& position, const StreamPlace& place) {
  if (is_sequence(place)) {
    item.set(position, place.positions.begin()->second.text());
  } else if (!place.positions.empty()) {
    item::Map shards;
    for (const auto& [shard, number] : place.positions) shards.set(shard, number.text());
    item.set(std::string(shards_attribute), std::move(shards));
  }
  if (!place.stream.empty()) item.set("stream", place.stream);
}

std::optional<StreamPlace> place_in(const item::Item& item, std::string_view position) {
  const std::string stream = item::attribute_text(item, "stream");
  const item::AttributeValue* const value = item.find(shards_attribute);
  if (value == nullptr) {
    const auto number = SequenceNumber::parse(item::attribute_text(item, position));
    return number ? std::optional(place_in_sequence(stream, *number)) : std::nullopt;
  }
  const auto* const shards = value->get_if<item::Map>();
  if (shards == nullptr || shards->empty()) return std::nullopt;
  StreamPlace place{.stream = stream, .positions = {}};
  for (const auto& [shard, number] : *shards) {
    const auto* const text = number.get_if<std::string>();
    if (text == nullptr || !add_position(place, shard, *text)) return std::nullopt;
  }
  return place;
}

std::string text_of_place(const StreamPlace& place) {
  std::string text;
  for (const auto& [shard, number] : place.positions) {
    if (!text.empty()) text += ',';
    if (!is_sequence(place)) text += shard + "=";
    text += number.text();
  }
  return text + " " + place.stream;
}

std::optional<StreamPlace> place_in_text(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  StreamPlace place{.stream = std::string(text.substr(space + 1)), .positions = {}};
  std::string_view positions = text.substr(0, space);
  if (const auto number = SequenceNumber::parse(positions)) return place_in_sequence(place.stream, *number);
  while (true) {
    const std::string_view one = positions.substr(0, positions.find(','));
    const std::size_t sign = one.find('=');
    if (sign == std::string_view::npos || !add_position(place, one.substr(0, sign), one.substr(sign + 1)))
      return std::nullopt;
    if (one.size() == positions.size()) return place;
    positions.remove_prefix(one.size() + 1);
  }
}

}  // namespace postino::store
