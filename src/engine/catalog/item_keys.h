// The keys of items and index entries, made of the attributes that the definitions of table and index name. The layouts
// are part of the disk format: docs/formats.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog/table.h"
#include "engine/storage/keys.h"
#include "item/value.h"
#include "store/traffic.h"

namespace postino::engine {

// items: table id, hash of the partition key, partition key, sort key. Partitions lie in hash order, so a scan is
// spread like DynamoDB's and a segment of a parallel scan is one contiguous range.
std::string item_key(const Table& table, const item::Map& item);
// Everything of one partition starts with this.
std::string partition_prefix(const Table& table, const item::AttributeValue& hash);

// indexes: index id, hash of the index's hash attributes, these attributes, range attributes, then the item key
// without its table id, because index keys are not unique. Empty when the item lacks one of the index's key attributes
// or has it with another type, empty or too large: the item is not in the index.
std::optional<std::string> index_key(const Index& index, const item::Map& item, std::string_view stored_item_key);
std::string index_partition_prefix(const Index& index, const std::vector<const item::AttributeValue*>& hash);

// The partition that such a key, of an item or of an index entry, begins with. It is a view into the key.
store::Partition partition_of(std::string_view stored_key);

// The part of [0, 2^32) of partition hashes that a segment of a parallel scan covers, as key bounds below `id`.
KeyRange segment_range(ObjectId id, std::uint32_t segment, std::uint32_t total);

}  // namespace postino::engine
