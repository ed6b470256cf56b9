// What an item of a table must have to be one.
#pragma once

#include <string>

#include "engine/catalog/table.h"
#include "engine/storage/stored_item.h"

namespace postino::engine {

// The item, when the value can be read and belongs to the key it is stored under; nullptr otherwise.
StoredItemPointer read_sound_item(const Table& table, const std::string& key, std::string_view value);

// Has it the attributes of the table's key, with their types?
bool has_key_of(const Table& table, const item::Item& item);

// Can the undo record be read, and does its image belong to its key?
bool is_sound_undo_record(const Table& table, std::string_view value);

// Has the backfill of an index or of the time to live come to this item?
inline bool is_filled(const std::optional<Backfill>& backfill, const std::string& key) {
  return !backfill || key <= backfill->cursor;
}

}  // namespace postino::engine
