#include "model_rules.h"

#include <algorithm>

#include "item/size.h"

namespace postino::model {

namespace {

const std::string not_valid = "One or more parameter values are not valid. ";
const std::string key_mismatch = "The provided key element does not match the schema";

bool is_empty(const item::AttributeValue& value) {
  return value == item::AttributeValue("") || value == item::AttributeValue(item::Binary{""});
}

std::string type_text(item::Type type) { return std::string(item::type_name(type)); }

std::string emptiness(const item::AttributeValue& value) {
  return "The AttributeValue for a key attribute cannot contain an empty " +
         std::string(value.type() == item::Type::string ? "string" : "binary") + " value.";
}

// Faults of one index; the first in the order of its keys is the one that is reported.
std::vector<std::string> index_faults(const ModelTable& table, const ModelIndex& index, const item::Item& item) {
  std::vector<std::string> faults;
  for (const std::string& name : index.keys()) {
    const item::AttributeValue* value = item.find(name);
    if (value == nullptr) continue;
    const item::Type type = table.types.at(name);
    if (value->type() != type)
      faults.push_back(were_invalid + "Type mismatch for Index Key " + name + " Expected: " + type_text(type) +
                       " Actual: " + type_text(value->type()) + " IndexName: " + index.name);
    else if (is_empty(*value))
      faults.push_back(not_valid + "A value specified for a secondary index key is not supported. " +
                       emptiness(*value) + " IndexName: " + index.name + ", IndexKey: " + name);
  }
  return faults;
}

std::vector<std::string> size_faults(const ModelIndex& index, const item::Item& item) {
  std::vector<std::string> faults;
  const auto size_of = [&](const std::string& name) {
    const item::AttributeValue* value = item.find(name);
    return value == nullptr || !has_order(value->type()) ? 0 : item::key_size(*value);
  };
  for (const std::string& name : index.hash)
    if (size_of(name) > 2048)
      faults.push_back(were_invalid + "Size of hashkey has exceeded the maximum size limit of2048 bytes");
  std::size_t range = 0;
  for (const std::string& name : index.range) range += size_of(name);
  if (range > 1024)
    faults.push_back(were_invalid + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes");
  return faults;
}

}  // namespace

Expected<void> check_key_not_empty(const ModelTable& table, const item::Map& item) {
  for (const std::string& name : table.keys()) {
    const item::AttributeValue* value = item.find(name);
    if (value != nullptr && is_empty(*value)) return invalid({not_valid + emptiness(*value) + " Key: " + name});
  }
  return {};
}

Expected<void> check_key(const ModelTable& table, const item::Key& key) {
  const auto fits = [&](const std::string& name) {
    return key.contains(name) && key.find(name)->type() == table.types.at(name);
  };
  if (key.size() != table.keys().size() || !std::ranges::all_of(table.keys(), fits)) return invalid({key_mismatch});
  return check_key_not_empty(table, key);
}

Expected<void> check_item(const ModelTable& table, const item::Item& item, bool in_batch) {
  for (const std::string& name : table.keys()) {
    const item::AttributeValue* value = item.find(name);
    if (value == nullptr && in_batch) return invalid({key_mismatch});
    if (value == nullptr) return invalid({were_invalid + "Missing the key " + name + " in the item"});
    const item::Type type = table.types.at(name);
    if (value->type() == type) continue;
    if (in_batch) return invalid({key_mismatch});
    return invalid({were_invalid + "Type mismatch for key " + name + " expected: " + type_text(type) +
                    " actual: " + type_text(value->type())});
  }
  TRY_VOID(check_key_not_empty(table, item));

  std::vector<const ModelIndex*> by_name;
  for (const ModelIndex& index : table.indexes) by_name.push_back(&index);
  std::ranges::sort(by_name, {}, [](const ModelIndex* index) { return index->name; });
  for (const ModelIndex* index : by_name) {
    if (const auto faults = index_faults(table, *index, item); !faults.empty()) return invalid({faults.front()});
    if (const auto faults = size_faults(*index, item); !faults.empty()) return invalid(faults);
  }
  return {};
}

Expected<void> check_updated(const ModelTable& table, const Update& update, const item::Item& after) {
  for (const UpdateAction& action : update.actions)
    for (const ModelIndex& index : table.indexes) {
      const std::string& name = std::get<std::string>(action.target.front());
      const std::vector<std::string> keys = index.keys();
      if (std::ranges::find(keys, name) == keys.end() || !after.contains(name)) continue;
      if (!index_faults(table, index, {{name, *after.find(name)}}).empty()) return invalid();
      if (!size_faults(index, after).empty()) return invalid();
    }
  return {};
}

Expected<void> check_targets(const ModelTable& table, const Update& update) {
  for (const UpdateAction& action : update.actions)
    for (const std::string& name : table.keys())
      if (std::get<std::string>(action.target.front()) == name)
        return invalid({were_invalid + "Cannot update attribute " + name + ". This attribute is part of the key"});
  return {};
}

}  // namespace postino::model
