#include "objects/item_objects.h"

#include <algorithm>

#include "base/text.h"
#include "item/attribute_text.h"
#include "store/retry.h"

namespace postino::objects {

namespace {

std::optional<std::string> part_for_value(const item::AttributeValue& value) {
  if (const auto* text = value.get_if<std::string>()) return name_part(*text);
  if (const auto* number = value.get_if<item::Number>()) return name_part(number->to_string());
  if (const auto* binary = value.get_if<item::Binary>()) return name_part(binary->bytes);
  return std::nullopt;
}

std::optional<item::AttributeValue> value_of_part(std::string_view part, item::Type type) {
  std::string text = base::decode_percent(part);
  if (name_part(text) != part) return std::nullopt;  // there is one form of each
  if (type == item::Type::string) return item::AttributeValue(std::move(text));
  if (type == item::Type::binary) return item::AttributeValue(item::Binary{std::move(text)});
  const auto number = item::Number::parse(text);
  if (!number) return std::nullopt;
  return item::AttributeValue(*number);
}

std::string_view take_name_part(std::string_view& name) {
  const std::size_t end = std::min(name.find('/'), name.size());
  const std::string_view part = name.substr(0, end);
  name.remove_prefix(std::min(end + 1, name.size()));
  return part;
}

}  // namespace

item::Key KeyedTable::key_of(const item::Map& item) const {
  item::Key key;
  for (const store::AttributeDefinition& part : keys)
    if (const item::AttributeValue* value = item.find(part.name)) key.set(part.name, *value);
  return key;
}

base::Result<KeyedTable> describe_keys(store::Store& store, const std::string& table) {
  const auto description = store.describe_table(table);
  if (!description) return base::propagate(store::as_error(description.error()));
  KeyedTable keyed{table, {}};
  for (const store::KeyElement& key : description->key_schema) {
    const auto& definitions = description->attribute_definitions;
    const auto found = std::ranges::find(definitions, key.name, &store::AttributeDefinition::name);
    if (found == definitions.end()) return base::fail(base::ErrorCode::corrupt, table + " has a key without a type");
    keyed.keys.push_back(*found);
  }
  return keyed;
}

store::Error error_of_objects(const base::Error& error) {
  const bool is_known = error.code == base::ErrorCode::exhausted;
  return {is_known ? store::ErrorType::limit_exceeded : store::ErrorType::service_unavailable, error.message};
}

std::string object_prefix(const ObjectKind& kind, const KeyedTable& table) {
  return kind.name + "/" + table.name + "/";
}

std::optional<std::string> name_for_item(const ObjectKind& kind, const KeyedTable& table, const item::Map& item,
                                         std::string_view version) {
  std::string name = object_prefix(kind, table);
  for (const store::AttributeDefinition& key : table.keys) {
    const item::AttributeValue* value = item.find(key.name);
    const auto part = value != nullptr ? part_for_value(*value) : std::nullopt;
    if (!part) return std::nullopt;
    name.append(*part).append("/");
  }
  name.append(version).append(kind.ending);
  if (!check_object_name(name)) return std::nullopt;
  return name;
}

std::optional<item::Key> owner_of_object(const ObjectKind& kind, const KeyedTable& table, std::string_view name) {
  const std::string prefix = object_prefix(kind, table);
  // Another program may have written any text where a name is expected.
  if (!name.starts_with(prefix) || !check_object_name(name)) return std::nullopt;
  name.remove_prefix(prefix.size());
  item::Key key;
  for (const store::AttributeDefinition& each : table.keys) {
    std::optional<item::AttributeValue> value = value_of_part(take_name_part(name), each.type);
    if (!value) return std::nullopt;
    key.set(each.name, *std::move(value));
  }
  if (name.size() <= kind.ending.size() || name.find('/') != std::string_view::npos || !name.ends_with(kind.ending))
    return std::nullopt;
  return key;
}

std::optional<std::string> object_of_item(const ObjectKind& kind, const KeyedTable& table, std::string_view bucket,
                                          const item::Map& item) {
  std::optional<std::string> name = name_in_address(bucket, item::attribute_text(item, kind.attribute));
  if (!name || owner_of_object(kind, table, *name) != table.key_of(item)) return std::nullopt;
  return name;
}

}  // namespace postino::objects
