#include "engine/storage/keys.h"

#include "base/bytes.h"
#include "base/check.h"

namespace postino::engine {

std::string id_prefix(ObjectId id) {
  std::string key;
  base::append_big_endian(key, id);
  return key;
}

std::string expiry_key(ObjectId table, std::int64_t second, std::string_view stored_item_key) {
  std::string key;
  key.reserve(object_id_size + sizeof second + stored_item_key.size());
  base::append_big_endian(key, table);
  base::append_big_endian(key, second);
  key.append(stored_item_key.substr(object_id_size));
  return key;
}

ExpiryEntry parse_expiry_key(std::string_view key) {
  CHECK(key.size() > object_id_size + sizeof(std::int64_t));
  ExpiryEntry entry;
  entry.second = base::load_big_endian<std::int64_t>(key.data() + object_id_size);
  entry.stored_item_key = std::string(key.substr(0, object_id_size));
  entry.stored_item_key.append(key.substr(object_id_size + sizeof entry.second));
  return entry;
}

std::string stream_key(ObjectId stream, store::SequenceNumber number) {
  std::string key;
  base::append_big_endian(key, stream);
  base::append_big_endian(key, number);
  return key;
}

store::SequenceNumber sequence_number_of(std::string_view stored_stream_key) {
  CHECK(stored_stream_key.size() == object_id_size + sizeof(store::SequenceNumber));
  return base::load_big_endian<store::SequenceNumber>(stored_stream_key.data() + object_id_size);
}

std::string after_prefix(std::string prefix) {
  while (static_cast<unsigned char>(prefix.back()) == 0xFF) {
    prefix.pop_back();
    CHECK(!prefix.empty());
  }
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

}  // namespace postino::engine
