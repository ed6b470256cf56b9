#include "engine/catalog/item_keys.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "engine/storage/keys.h"
#include "item/ordered_key.h"
#include "item/size.h"

namespace postino::engine {

namespace {

// The hash, then the bytes it was taken of with their length before them, because more follows.
void append_partition(std::string& key, std::string_view hash_bytes) {
  base::append_big_endian(key, static_cast<std::uint32_t>(base::fast_hash(hash_bytes) >> 32));
  base::append_big_endian(key, static_cast<std::uint16_t>(hash_bytes.size()));
  key.append(hash_bytes);
}

// Items that were there before an index may have anything under the names of its keys. What could not be written with
// the index in place is not in the index.
const item::AttributeValue* find_key_part(const item::Map& item, const KeyPart& part, std::size_t max_size) {
  const item::AttributeValue* value = item.find(part.name);
  if (value == nullptr || value->type() != part.type) return nullptr;
  const std::size_t size = item::key_size(*value);
  return size > 0 && size <= max_size ? value : nullptr;
}

}  // namespace

std::string partition_prefix(const Table& table, const item::AttributeValue& hash) {
  std::string hash_bytes;
  item::append_ordered_last(hash_bytes, hash);
  std::string key;
  key.reserve(object_id_size + partition_hash_size + 2 + hash_bytes.size() + 64);
  base::append_big_endian(key, table.id);
  append_partition(key, hash_bytes);
  return key;
}

std::string item_key(const Table& table, const item::Map& item) {
  const item::AttributeValue* hash = item.find(table.hash.name);
  CHECK(hash != nullptr);
  std::string key = partition_prefix(table, *hash);
  if (table.range) {
    const item::AttributeValue* range = item.find(table.range->name);
    CHECK(range != nullptr);
    item::append_ordered_last(key, *range);
  }
  return key;
}

std::string index_partition_prefix(const Index& index, const std::vector<const item::AttributeValue*>& hash) {
  std::string hash_bytes;
  for (const item::AttributeValue* value : hash) item::append_ordered(hash_bytes, *value);
  std::string key;
  key.reserve(object_id_size + partition_hash_size + 2 + hash_bytes.size() + 128);
  base::append_big_endian(key, index.id);
  append_partition(key, hash_bytes);
  return key;
}

std::optional<std::string> index_key(const Index& index, const item::Map& item, std::string_view stored_item_key) {
  std::vector<const item::AttributeValue*> hash;
  hash.reserve(index.hash.size());
  for (const KeyPart& part : index.hash) {
    hash.push_back(find_key_part(item, part, item::max_hash_key_size));
    if (hash.back() == nullptr) return std::nullopt;
  }
  std::size_t range_size = 0;
  for (const KeyPart& part : index.range) {
    const item::AttributeValue* value = find_key_part(item, part, item::max_range_key_size);
    if (value == nullptr) return std::nullopt;
    range_size += item::key_size(*value);
  }
  if (range_size > item::max_range_key_size) return std::nullopt;
  std::string key = index_partition_prefix(index, hash);
  for (const KeyPart& part : index.range) item::append_ordered(key, *item.find(part.name));
  key.append(stored_item_key.substr(object_id_size));
  return key;
}

store::Partition partition_of(std::string_view stored_key) {
  base::ByteReader in(stored_key.substr(object_id_size));
  const auto hash = in.big_endian<std::uint32_t>();
  const auto size = in.big_endian<std::uint16_t>();
  const auto bytes = size ? in.take(*size) : std::nullopt;
  CHECK(hash && bytes);
  return {*hash, *bytes};
}

KeyRange segment_range(ObjectId id, std::uint32_t segment, std::uint32_t total) {
  // 2^32 * total fits 64 bits, so the bounds of neighbouring segments meet exactly.
  constexpr std::uint64_t hashes = std::uint64_t{1} << 32;
  const auto bound = [&](std::uint64_t part) -> std::string {
    const std::uint64_t first = (hashes * part + total - 1) / total;
    if (first == hashes) return id_prefix(id + 1);
    std::string key = id_prefix(id);
    base::append_big_endian(key, static_cast<std::uint32_t>(first));
    return key;
  };
  return {bound(segment), bound(std::uint64_t{segment} + 1)};
}

}  // namespace postino::engine
