// What was there before a change of a table with point-in-time recovery: the stored form. Its key has the time of the
// commit, see keys.h. Walking back from the items over these records, the newest first, leads to what the table was.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/storage/stored_item.h"

namespace postino::engine {

// Of a change that found `before`; nullptr when there was no item.
std::string encode_undo_record(std::string_view stored_item_key, const StoredItemPointer& before);

// Refers to the record's bytes.
struct UndoRecord {
  std::string_view key_rest;              // the item's key without its table id
  std::optional<std::string_view> image;  // the stored item, as it lay in the database
};
base::Result<UndoRecord> read_undo_record(std::string_view bytes);

}  // namespace postino::engine
