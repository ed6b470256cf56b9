#include "engine/recovery/sound_item.h"

#include "engine/catalog/item_keys.h"
#include "engine/catalog/undo_record.h"

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

bool is_sound_undo_record(const Table& table, std::string_view value) {
  const auto record = read_undo_record(value);
  if (!record || !record->image) return record.has_value();
  const std::string key = id_prefix(table.id) + std::string(record->key_rest);
  return read_sound_item(table, key, *record->image) != nullptr;
}

}  // namespace postino::engine
