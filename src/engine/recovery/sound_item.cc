#include "engine/recovery/sound_item.h"

#include "engine/catalog/item_keys.h"

namespace postino::engine {

bool has_key_of(const Table& table, const item::Item& item) {
  const auto has = [&](const KeyPart& part) {
    const item::AttributeValue* value = item.find(part.name);
    return value != nullptr && value->type() == part.type;
  };
  return has(table.hash) && (!table.range || has(*table.range));
}

StoredItemPointer read_sound_item(const Table& table, const std::string& key, std::string_view value) {
  const auto item = load_item(value);
  if (!item || !has_key_of(table, (*item)->item) || item_key(table, (*item)->item) != key) return nullptr;
  return *item;
}

}  // namespace postino::engine
