#include "engine/items/key_rules.h"

#include <algorithm>

#include "item/size.h"

namespace postino::engine {

namespace {

using item::AttributeValue;
using store::refuse_invalid;

constexpr std::string_view invalid_values = "One or more parameter values were invalid: ";
constexpr std::string_view not_valid = "One or more parameter values are not valid. ";
constexpr std::string_view key_mismatch = "The provided key element does not match the schema";

std::string text(std::initializer_list<std::string_view> parts) {
  std::string result;
  for (const std::string_view part : parts) result.append(part);
  return result;
}

// "string" or "binary" when the value is empty and may not be; nothing otherwise.
std::string_view kind_of_emptiness(const AttributeValue& value) {
  if (const auto* string = value.get_if<std::string>(); string != nullptr && string->empty()) return "string";
  if (const auto* binary = value.get_if<item::Binary>(); binary != nullptr && binary->bytes.empty()) return "binary";
  return {};
}

store::Answer<void> check_not_empty(const KeyPart& part, const AttributeValue& value) {
  const std::string_view kind = kind_of_emptiness(value);
  if (kind.empty()) return {};
  return refuse_invalid(text({not_valid, "The AttributeValue for a key attribute cannot contain an empty ", kind,
                              " value. Key: ", part.name}));
}

store::Answer<void> check_hash_size(const AttributeValue& value) {
  if (item::key_size(value) <= item::max_hash_key_size) return {};
  return refuse_invalid(text({invalid_values, "Size of hashkey has exceeded the maximum size limit of2048 bytes"}));
}

store::Answer<void> check_range_size(std::size_t size) {
  if (size <= item::max_range_key_size) return {};
  return refuse_invalid(
      text({invalid_values, "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"}));
}

store::Answer<void> check_key_sizes(const Table& table, const item::Map& item) {
  TRY_VOID(check_hash_size(*item.find(table.hash.name)));
  if (table.range) TRY_VOID(check_range_size(item::key_size(*item.find(table.range->name))));
  return {};
}

store::Answer<void> check_item_key_part(const KeyPart& part, const item::Item& item) {
  const AttributeValue* value = item.find(part.name);
  if (value == nullptr) return refuse_invalid(text({invalid_values, "Missing the key ", part.name, " in the item"}));
  if (value->type() != part.type)
    return refuse_invalid(text({invalid_values, "Type mismatch for key ", part.name, " expected: ",
                                item::type_name(part.type), " actual: ", item::type_name(value->type())}));
  return {};
}

// The table's indexes by name: with several offended ones, DynamoDB names the first in the alphabet.
std::vector<const Index*> indexes_by_name(const Table& table) {
  std::vector<const Index*> indexes;
  for (const Index& index : table.indexes) indexes.push_back(&index);
  std::ranges::sort(indexes, {}, [](const Index* index) { return std::string_view(index->name); });
  return indexes;
}

template <class Check>
store::Answer<void> for_each_index_key(const Index& index, const item::Item& item, Check check) {
  for (const auto* parts : {&index.hash, &index.range})
    for (const KeyPart& part : *parts)
      if (const AttributeValue* value = item.find(part.name)) TRY_VOID(check(part, *value));
  return {};
}

// Values of other types do not count: an item from before the index may have them, and is not in it.
store::Answer<void> check_index_key_sizes(const Index& index, const item::Item& item) {
  const auto find = [&](const KeyPart& part) {
    const AttributeValue* value = item.find(part.name);
    return value != nullptr && value->type() == part.type ? value : nullptr;
  };
  for (const KeyPart& part : index.hash)
    if (const AttributeValue* value = find(part)) TRY_VOID(check_hash_size(*value));
  std::size_t size = 0;
  for (const KeyPart& part : index.range)
    if (const AttributeValue* value = find(part)) size += item::key_size(*value);
  return check_range_size(size);
}

store::Answer<void> refuse_index_key_type(const Index& index, const KeyPart& part, const AttributeValue& value) {
  return refuse_invalid(
      text({invalid_values, "Type mismatch for Index Key ", part.name, " Expected: ", item::type_name(part.type),
            " Actual: ", item::type_name(value.type()), " IndexName: ", index.name}));
}

store::Answer<void> check_index_keys(const Table& table, const item::Item& item) {
  for (const Index* index : indexes_by_name(table)) {
    TRY_VOID(
        for_each_index_key(*index, item, [&](const KeyPart& part, const AttributeValue& value) -> store::Answer<void> {
          if (value.type() != part.type) return refuse_index_key_type(*index, part, value);
          const std::string_view kind = kind_of_emptiness(value);
          if (kind.empty()) return {};
          return refuse_invalid(text({not_valid, "A value specified for a secondary index key is not supported. ",
                                      "The AttributeValue for a key attribute cannot contain an empty ", kind,
                                      " value. IndexName: ", index->name, ", IndexKey: ", part.name}));
        }));
    TRY_VOID(check_index_key_sizes(*index, item));
  }
  return {};
}

}  // namespace

store::Answer<void> check_key_not_empty(const Table& table, const item::Map& item) {
  if (const AttributeValue* value = item.find(table.hash.name)) TRY_VOID(check_not_empty(table.hash, *value));
  if (table.range)
    if (const AttributeValue* value = item.find(table.range->name)) TRY_VOID(check_not_empty(*table.range, *value));
  return {};
}

store::Answer<void> check_key(const Table& table, const item::Key& key) {
  const std::size_t parts = table.range ? 2 : 1;
  const auto matches = [&](const KeyPart& part) {
    const AttributeValue* value = key.find(part.name);
    return value != nullptr && value->type() == part.type;
  };
  if (key.size() != parts || !matches(table.hash) || (table.range && !matches(*table.range)))
    return refuse_invalid(std::string(key_mismatch));
  TRY_VOID(check_key_not_empty(table, key));
  return check_key_sizes(table, key);
}

store::Answer<void> check_item_key(const Table& table, const item::Item& item) {
  TRY_VOID(check_item_key_part(table.hash, item));
  if (table.range) TRY_VOID(check_item_key_part(*table.range, item));
  TRY_VOID(check_key_not_empty(table, item));
  return check_key_sizes(table, item);
}

store::Answer<void> check_item(const Table& table, const item::Item& item) {
  TRY_VOID(check_item_key(table, item));
  TRY_VOID(check_index_keys(table, item));
  if (item::size_of(item) > item::max_item_size)
    return refuse_invalid("Item size has exceeded the maximum allowed size");
  return {};
}

store::Answer<void> check_updated_index_keys(const Table& table, const item::Item& item,
                                             const std::vector<UpdatedAttribute>& updated) {
  for (const Index* index : indexes_by_name(table)) {
    bool touched = false;
    TRY_VOID(
        for_each_index_key(*index, item, [&](const KeyPart& part, const AttributeValue& value) -> store::Answer<void> {
          const auto target = std::ranges::find(updated, part.name, &UpdatedAttribute::name);
          if (target == updated.end()) return {};
          touched = true;
          if (value.type() != part.type) {
            if (!target->computed) return refuse_index_key_type(*index, part, value);
            return refuse_invalid(
                "The update expression attempted to update the secondary index key to unsupported type");
          }
          const std::string_view kind = kind_of_emptiness(value);
          if (kind.empty()) return {};
          return refuse_invalid(text(
              {not_valid,
               "The update expression attempted to update a secondary index key to a value that is not supported. ",
               "The AttributeValue for a key attribute cannot contain an empty ", kind, " value."}));
        }));
    if (touched) TRY_VOID(check_index_key_sizes(*index, item));
  }
  return {};
}

item::Key key_of(const Table& table, const item::Item& item) {
  item::Key key;
  key.set(table.hash.name, *item.find(table.hash.name));
  if (table.range) key.set(table.range->name, *item.find(table.range->name));
  return key;
}

item::Key key_within(const Table& table, const item::Item& item) {
  item::Key key;
  if (const AttributeValue* value = item.find(table.hash.name)) key.set(table.hash.name, *value);
  if (!table.range) return key;
  if (const AttributeValue* value = item.find(table.range->name)) key.set(table.range->name, *value);
  return key;
}

store::Answer<void> check_attributes(const item::Map& item) {
  for (const item::Attribute& attribute : item) TRY_VOID(item::check_attribute_name(attribute.name));
  TRY_VOID(item::check_nesting(item));
  return {};
}

store::Answer<void> check_scalar_keys(const Table& table, const std::vector<std::string_view>& entered) {
  constexpr std::string_view must_be_scalars =
      "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: ";
  if (entered.empty()) return {};
  const auto is_entered = [&](const KeyPart& part) { return std::ranges::find(entered, part.name) != entered.end(); };
  if (is_entered(table.hash)) return refuse_invalid(text({must_be_scalars, "Key: ", table.hash.name}));
  if (table.range && is_entered(*table.range))
    return refuse_invalid(text({must_be_scalars, "Key: ", table.range->name}));
  for (const Index& index : table.indexes)
    for (const auto* parts : {&index.hash, &index.range})
      if (const auto found = std::ranges::find_if(*parts, is_entered); found != parts->end())
        return refuse_invalid(text({must_be_scalars, "IndexKey: ", found->name}));
  return {};
}

}  // namespace postino::engine
