// Items that are too large for the store: which of their attributes move to the object store, and what the object looks
// like. Pure code.
//
// The object is the JSON of an item of its own, as DynamoDB writes it: the key and the attributes that have moved. The
// item keeps the rest, and says where they are:
//
//   large_data_uri     s3://{bucket}/large-items/{table}/{PK}/{SK}/{version}.json
//   large_data_names   the attributes that are there
//   large_data_sha256  of the object
//   large_data_bytes   its size
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "item/value.h"
#include "objects/item_objects.h"

namespace postino::objects {

inline constexpr std::string_view large_data_names = "large_data_names";
inline constexpr std::string_view large_data_sha256 = "large_data_sha256";
inline constexpr std::string_view large_data_bytes = "large_data_bytes";
// Never in the table: an item that is read has it when its object is lost or damaged, or not its own. It says why.
inline constexpr std::string_view large_data_fault = "large_data_fault";

// Of objects with such attributes.
const ObjectKind& large_items_kind();

// The attributes that say where others are, or why they cannot be read. Callers may not use these names.
const std::vector<std::string>& large_data_attributes();

// Why an item that was read is not whole: corrupt. A reader of records asks this first.
base::Result<void> check_whole(const item::Map& item);
// The attributes that such an item lacks; none when it is whole, or when it is not known which.
std::vector<std::string> missing_attributes(const item::Map& item);

struct LargeItemLimits {
  std::size_t item = 350'000;      // an item may have so many bytes, as DynamoDB counts them, before attributes move
  std::size_t attribute = 50'000;  // those with more bytes move first
  std::size_t whole = 8 << 20;     // an item may have so many with those that have moved
};

struct SplitItem {
  item::Item rest;
  item::Map moved;  // empty: the item stays as it is
};

// Moves the attributes above the limit. If the rest is still too large, the next largest ones move, too, down to one
// kilobyte: an item may have many of middle size. Those in `kept` stay: keys of the table and of its indexes, the time
// to live.
SplitItem split_item(item::Item item, const LargeItemLimits& limits, const std::vector<std::string>& kept);

// The object of these attributes of the item with this key.
std::string write_large_object(const item::Key& key, const item::Map& moved);
// The moved attributes; corrupt when it is not one of the item with this key.
base::Result<item::Map> read_large_object(std::string_view bytes, const item::Key& key);

// What the seed's own program writes: the attributes as plain JSON, or as DynamoDB's. corrupt when it is neither.
base::Result<item::Map> read_seed_object(std::string_view bytes);
// Where it is: "large-items/{PK}/{SK}.json". Empty for a table without two keys of text.
std::string seed_object_name(const KeyedTable& table, const item::Map& item);

}  // namespace postino::objects
