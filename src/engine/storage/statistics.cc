#include "engine/storage/statistics.h"

#include "base/bytes.h"

namespace postino::engine {

std::string statistics_key(ObjectId id) {
  std::string key = "count/";
  base::append_big_endian(key, id);
  return key;
}

std::string encode_statistics(std::int64_t count, std::int64_t bytes) {
  std::string value;
  base::append_varint(value, static_cast<std::uint64_t>(count));
  base::append_varint(value, static_cast<std::uint64_t>(bytes));
  return value;
}

void load_statistics(Statistics& statistics, std::string_view bytes) {
  base::ByteReader reader(bytes);
  statistics.count = static_cast<std::int64_t>(reader.varint().value_or(0));
  statistics.bytes = static_cast<std::int64_t>(reader.varint().value_or(0));
}

}  // namespace postino::engine
