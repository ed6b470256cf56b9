#include "model_table.h"

#include <algorithm>

#include "item/size.h"

namespace postino::model {

namespace {

bool is_one_of(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::vector<std::string> ModelIndex::keys() const {
  std::vector<std::string> names = hash;
  names.insert(names.end(), range.begin(), range.end());
  return names;
}

std::vector<std::string> ModelTable::keys() const {
  std::vector<std::string> names = {hash};
  if (range) names.push_back(*range);
  return names;
}

const ModelIndex* ModelTable::find_index(const std::string& index_name) const {
  const auto found = std::ranges::find(indexes, index_name, &ModelIndex::name);
  return found == indexes.end() ? nullptr : &*found;
}

ModelIndex* ModelTable::find_index(const std::string& index_name) {
  const auto found = std::ranges::find(indexes, index_name, &ModelIndex::name);
  return found == indexes.end() ? nullptr : &*found;
}

KeyOfItem ModelTable::key_values(const item::Map& item) const {
  KeyOfItem values;
  for (const std::string& attribute : keys()) values.push_back(*item.find(attribute));
  return values;
}

item::Key ModelTable::key_of(const item::Map& item) const {
  item::Key key;
  for (const std::string& attribute : keys()) key.set(attribute, *item.find(attribute));
  return key;
}

const item::Item* ModelTable::find(const item::Map& key) const {
  const auto found = items.find(key_values(key));
  return found == items.end() ? nullptr : &found->second;
}

bool ModelTable::is_indexed(const ModelIndex& index, const item::Item& item) const {
  std::size_t range_size = 0;
  for (const std::string& attribute : index.keys()) {
    const item::AttributeValue* value = item.find(attribute);
    if (value == nullptr || value->type() != types.at(attribute)) return false;
    const std::size_t size = item::key_size(*value);
    if (size == 0 || size > 2048) return false;
    if (is_one_of(index.range, attribute)) range_size += size;
  }
  return range_size <= 1024;
}

bool ModelTable::keeps(const ModelIndex& index, const std::string& attribute) const {
  if (index.projection == store::ProjectionType::all || is_one_of(keys(), attribute)) return true;
  return is_one_of(index.keys(), attribute) || is_one_of(index.included, attribute);
}

item::Item ModelTable::entry_of(const ModelIndex* index, const item::Item& item) const {
  if (index == nullptr) return item;
  item::Item entry;
  for (const item::Attribute& attribute : item)
    if (keeps(*index, attribute.name)) entry.set(attribute.name, attribute.value);
  return entry;
}

void ModelTable::change(const item::Key& key, const std::optional<item::Item>& after, base::TimePoint now,
                        bool by_time_to_live) {
  const item::Item* found = find(key);
  const std::optional<item::Item> before = found == nullptr ? std::nullopt : std::optional<item::Item>(*found);
  if (before == after) return;
  if (stream) records.push_back({before, after, now, by_time_to_live});
  if (after)
    items[key_values(key)] = *after;
  else
    items.erase(key_values(key));
}

bool ModelTable::is_expired(const item::Item& item, base::TimePoint now) const {
  const item::AttributeValue* value = time_to_live ? item.find(*time_to_live) : nullptr;
  if (value == nullptr || value->type() != item::Type::number) return false;
  constexpr std::int64_t five_years = 5LL * 365 * 24 * 3600;
  const auto second = value->as<item::Number>().to_int64();
  const std::int64_t today = base::epoch_seconds(now);
  return second && *second <= today && *second >= today - five_years && !value->as<item::Number>().negative();
}

}  // namespace postino::model
