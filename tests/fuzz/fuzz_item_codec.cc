// Bytes as they might be on disk, and the same bytes as JSON.
#include "base/check.h"
#include "item/binary_codec.h"
#include "item/json_codec.h"
#include "item/size.h"
#include "targets.h"

namespace postino::fuzz {

namespace {

template <class Value>
std::string encoded(const Value& value) {
  std::string bytes;
  item::encode(bytes, value);
  return bytes;
}

// What an item weighs at least. An empty name of an empty string weighs nothing: bytes on disk may hold one.
std::size_t bytes_of_names(const item::Map& map) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : map) bytes += name.size();
  return bytes;
}

void check_bytes(std::string_view input) {
  const auto value = item::decode_value(input);
  if (value) CHECK(encoded(*value) == input);
  if (!value) CHECK(value.error().code == base::ErrorCode::corrupt);
  const auto map = item::decode_map(input);
  if (map) CHECK(encoded(*map) == input);
  if (!map) CHECK(map.error().code == base::ErrorCode::corrupt);
  // Strings on disk need not be UTF-8; JSON of them must still be JSON.
  if (map) {
    const std::string json = item::to_json(*map);
    const auto parsed = item::parse_item(json);
    CHECK(parsed || parsed.error().code == base::ErrorCode::invalid);
    CHECK(item::size_of(*map) >= bytes_of_names(*map));
  }
}

void check_json(std::string_view input) {
  if (const auto map = item::parse_item(input)) {
    const auto again = item::parse_item(item::to_json(*map));
    CHECK(again && *again == *map);
    const auto decoded = item::decode_map(encoded(*map));
    CHECK(decoded && *decoded == *map);
  }
  if (const auto value = item::parse_value(input)) {
    const auto again = item::parse_value(item::to_json(*value));
    CHECK(again && *again == *value);
    const auto decoded = item::decode_value(encoded(*value));
    CHECK(decoded && *decoded == *value);
  }
}

}  // namespace

void fuzz_item_codec(std::string_view input) {
  check_bytes(input);
  check_json(input);
}

}  // namespace postino::fuzz
