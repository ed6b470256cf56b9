#include "engine/storage/stored_item.h"

#include "base/bytes.h"
#include "item/binary_codec.h"
#include "item/size.h"

namespace postino::engine {

namespace {

constexpr char item_format = 1;

// What stands before the attributes. There is room for them behind it.
std::string encoded_head(std::size_t size, std::size_t attributes) {
  std::string bytes;
  bytes.reserve(size + 16 + attributes * 4);
  bytes.push_back(item_format);
  base::append_varint(bytes, size);
  return bytes;
}

}  // namespace

std::string encode_item(const item::Item& item, std::size_t size) {
  std::string bytes = encoded_head(size, item.size());
  item::encode(bytes, item);
  return bytes;
}

EncodedPart encode_part(const item::Item& item, const std::vector<std::string>& names) {
  EncodedPart part;
  for (const std::string& name : names)
    if (const item::AttributeValue* value = item.find(name)) part.size += name.size() + item::size_of(*value);
  part.bytes = encoded_head(part.size, names.size());
  item::encode(part.bytes, item, names);
  return part;
}

StoredItemPointer store_item(item::Item item) {
  auto stored = std::make_shared<StoredItem>();
  stored->item = std::move(item);
  stored->size = item::size_of(stored->item);
  stored->bytes = encode_item(stored->item, stored->size);
  return stored;
}

base::Result<MeasuredItem> read_item(std::string_view bytes) {
  base::ByteReader reader(bytes);
  const auto format = reader.byte();
  const auto size = reader.varint();
  if (!format || *format != item_format || !size)
    return base::fail(base::ErrorCode::corrupt, "a stored item has an unknown format");
  TRY(item::Map item, item::decode_map(reader.rest()));
  return MeasuredItem{std::move(item), *size};
}

base::Result<StoredItemPointer> load_item(std::string_view bytes) {
  TRY(MeasuredItem measured, read_item(bytes));
  auto stored = std::make_shared<StoredItem>();
  stored->item = std::move(measured.item);
  stored->bytes = std::string(bytes);
  stored->size = measured.size;
  return StoredItemPointer(std::move(stored));
}

}  // namespace postino::engine
