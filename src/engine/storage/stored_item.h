// An item as it lies in the database: decoded, encoded and measured, so that no step has to do any of these again.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "item/value.h"

namespace postino::engine {

struct StoredItem {
  item::Item item;
  std::string bytes;     // the value in the database: format byte, size, encoded attributes
  std::size_t size = 0;  // as DynamoDB counts it
};

// nullptr: there is no item.
using StoredItemPointer = std::shared_ptr<const StoredItem>;

StoredItemPointer store_item(item::Item item);
base::Result<StoredItemPointer> load_item(std::string_view bytes);

// For readers that need no encoded form.
struct MeasuredItem {
  item::Item item;
  std::size_t size = 0;
};
base::Result<MeasuredItem> read_item(std::string_view bytes);

// The encoded value of an index entry or of an item.
std::string encode_item(const item::Item& item, std::size_t size);

// The value of an index entry that has only the attributes with these names, which are sorted; and their size.
struct EncodedPart {
  std::string bytes;
  std::size_t size = 0;
};
EncodedPart encode_part(const item::Item& item, const std::vector<std::string>& names);

}  // namespace postino::engine
