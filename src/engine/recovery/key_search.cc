#include "engine/recovery/key_search.h"

#include <utility>

#include "engine/catalog/item_keys.h"
#include "engine/recovery/sound_item.h"

namespace postino::engine {

namespace {

bool can_be_key(const item::AttributeValue& value) {
  return value.type() == item::Type::string || value.type() == item::Type::number || value.type() == item::Type::binary;
}

}  // namespace

void KeySearch::add(const std::string& key, std::string_view value) {
  ++items_;
  const auto item = load_item(value);
  if (!item) return;
  if (!begun_) return find_first(key, (*item)->item);
  std::erase_if(keys_, [&](const Table& table) {
    return !has_key_of(table, (*item)->item) || item_key(table, (*item)->item) != key;
  });
}

void KeySearch::find_first(const std::string& key, const item::Item& item) {
  begun_ = true;
  for (const auto& [hash_name, hash] : item) {
    if (!can_be_key(hash)) continue;
    Table table;
    table.id = id_;
    table.hash = {hash_name, hash.type()};
    const std::string partition = partition_prefix(table, hash);
    if (!key.starts_with(partition)) continue;
    if (key == partition) keys_.insert(keys_.begin(), table);
    for (const auto& [range_name, range] : item) {
      if (!can_be_key(range) || range_name == hash_name) continue;
      table.range = KeyPart{range_name, range.type()};
      if (item_key(table, item) == key) keys_.push_back(table);
    }
  }
}

}  // namespace postino::engine
