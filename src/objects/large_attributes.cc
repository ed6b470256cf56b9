#include "objects/large_attributes.h"

#include <algorithm>
#include <functional>

#include "item/attribute_text.h"
#include "item/json_codec.h"
#include "item/size.h"
#include "json/document.h"

namespace postino::objects {

namespace {

constexpr std::size_t worth_moving = 1'024;
constexpr int deepest_plain_value = item::max_nesting;

struct MeasuredAttribute {
  const item::Attribute* attribute;
  std::size_t size;
};

base::Result<item::AttributeValue> value_of_json(json::Element element, int depth) {
  using Type = json::Element::Type;
  if (depth > deepest_plain_value) return base::fail(base::ErrorCode::corrupt, "it is nested too deep");
  switch (element.type()) {
    case Type::null:
      return item::AttributeValue(item::Null{});
    case Type::boolean:
      return item::AttributeValue(*element.boolean());
    case Type::string:
      return item::AttributeValue(*element.text());
    case Type::array: {
      item::List list;
      for (const json::Element each : element.elements()) {
        TRY(item::AttributeValue value, value_of_json(each, depth + 1));
        list.push_back(std::move(value));
      }
      return item::AttributeValue(std::move(list));
    }
    case Type::object: {
      item::Map map;
      for (const auto& [name, each] : element.members()) {
        TRY(item::AttributeValue value, value_of_json(each, depth + 1));
        map.set(std::string(name), std::move(value));
      }
      return item::AttributeValue(std::move(map));
    }
    case Type::integer:
    case Type::unsigned_integer:
    case Type::number:
      break;
  }
  TRY(const item::Number number, item::Number::parse(element.compact()));
  return item::AttributeValue(number);
}

tl::unexpected<base::Error> no_large_object() {
  return base::fail(base::ErrorCode::corrupt, "the object has not the attributes of an item");
}

}  // namespace

const ObjectKind& large_items_kind() {
  static const ObjectKind kind{"large-items", "large_data_uri", ".json"};
  return kind;
}

const std::vector<std::string>& large_data_attributes() {
  static const std::vector<std::string> names = {large_items_kind().attribute, std::string(large_data_names),
                                                 std::string(large_data_sha256), std::string(large_data_bytes),
                                                 std::string(large_data_fault)};
  return names;
}

base::Result<void> check_whole(const item::Map& item) {
  if (!item.contains(large_data_fault)) return {};
  return base::fail(base::ErrorCode::corrupt, item::attribute_text(item, large_data_fault));
}

std::vector<std::string> missing_attributes(const item::Map& item) {
  const item::AttributeValue* const names = item.contains(large_data_fault) ? item.find(large_data_names) : nullptr;
  const auto* const set = names != nullptr ? names->get_if<item::StringSet>() : nullptr;
  if (set == nullptr) return {};
  return {set->members().begin(), set->members().end()};
}

SplitItem split_item(item::Item item, const LargeItemLimits& limits, const std::vector<std::string>& kept) {
  SplitItem split;
  std::size_t size = item::size_of(item);
  if (size <= limits.item) {
    split.rest = std::move(item);
    return split;
  }
  std::vector<MeasuredAttribute> movable;
  for (const item::Attribute& attribute : item)
    if (std::ranges::find(kept, attribute.name) == kept.end())
      movable.push_back({&attribute, attribute.name.size() + item::size_of(attribute.value)});
  std::ranges::stable_sort(movable, std::greater(), &MeasuredAttribute::size);
  std::vector<std::string> names;
  for (const MeasuredAttribute& each : movable) {
    if (each.size <= limits.attribute && (size <= limits.item || each.size < worth_moving)) break;
    names.push_back(each.attribute->name);
    size -= each.size;
  }
  for (const std::string& name : names) {
    split.moved.set(name, std::move(*item.find(name)));
    item.erase(name);
  }
  split.rest = std::move(item);
  return split;
}

std::string write_large_object(const item::Key& key, const item::Map& moved) {
  item::Map all = moved;
  for (const item::Attribute& part : key) all.set(part.name, part.value);
  return item::to_json(all);
}

base::Result<item::Map> read_large_object(std::string_view bytes, const item::Key& key) {
  auto attributes = item::parse_item(bytes);
  if (!attributes) return no_large_object();
  for (const item::Attribute& part : key) {
    const item::AttributeValue* value = attributes->find(part.name);
    if (value == nullptr || !(*value == part.value))
      return base::fail(base::ErrorCode::corrupt, "the object belongs to another item");
    attributes->erase(part.name);
  }
  return attributes;
}

base::Result<item::Map> read_seed_object(std::string_view bytes) {
  if (json::has_too_many_values(bytes)) return no_large_object();
  // A map of plain values is hardly ever one of DynamoDB's by accident: each would be an object with one member that is
  // called like a type.
  if (auto typed = item::parse_item(bytes)) return *std::move(typed);
  json::Document document;
  json::FieldErrors errors;
  if (!document.parse(bytes, errors) || !document.root().is_object()) return no_large_object();
  auto value = value_of_json(document.root(), 0);
  if (!value) return no_large_object();
  return std::move(value->as<item::Map>());
}

std::string seed_object_name(const KeyedTable& table, const item::Map& item) {
  std::string name = large_items_kind().name;
  if (table.keys.size() != 2) return "";
  for (const store::AttributeDefinition& key : table.keys) {
    const item::AttributeValue* value = item.find(key.name);
    const std::string* text = value != nullptr ? value->get_if<std::string>() : nullptr;
    if (text == nullptr) return "";
    name.append("/").append(*text);
  }
  return name + ".json";
}

}  // namespace postino::objects
