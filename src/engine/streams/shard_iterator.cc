#include "engine/streams/shard_iterator.h"

#include "base/base64.h"
#include "base/bytes.h"
#include "base/hash.h"

namespace postino::engine {

namespace {

constexpr char token_format = 1;
constexpr std::size_t content_size = 1 + sizeof(ObjectId) + 3 * sizeof(std::uint64_t);
constexpr std::size_t checksum_size = sizeof(std::uint32_t);

// Clients cut and mangle tokens; a damaged one must not read from somewhere else.
std::uint32_t checksum(std::string_view content) { return static_cast<std::uint32_t>(base::fast_hash(content)); }

}  // namespace

std::string encode_shard_iterator(const ShardIterator& iterator) {
  std::string bytes(1, token_format);
  base::append_big_endian(bytes, iterator.stream);
  base::append_big_endian(bytes, iterator.shard);
  base::append_big_endian(bytes, iterator.position);
  base::append_big_endian(bytes, base::epoch_milliseconds(iterator.issued));
  base::append_big_endian(bytes, checksum(bytes));
  return base::to_base64(bytes);
}

store::Answer<ShardIterator> decode_shard_iterator(std::string_view text, base::TimePoint now) {
  const base::Result<std::string> bytes = base::from_base64(text);
  if (!bytes || bytes->size() != content_size + checksum_size || bytes->front() != token_format)
    return invalid_shard_iterator();
  const std::string_view content = std::string_view(*bytes).substr(0, content_size);
  if (base::load_big_endian<std::uint32_t>(bytes->data() + content_size) != checksum(content))
    return invalid_shard_iterator();

  base::ByteReader reader(content.substr(1));
  ShardIterator iterator;
  iterator.stream = *reader.big_endian<ObjectId>();
  iterator.shard = *reader.big_endian<std::uint64_t>();
  iterator.position = *reader.big_endian<RecordNumber>();
  iterator.issued = base::from_epoch_milliseconds(*reader.big_endian<std::int64_t>());
  if (now - iterator.issued > store::shard_iterator_life)
    return store::refuse(store::ErrorType::expired_iterator,
                         "The shard iterator has expired and can no longer be used to retrieve stream records");
  return iterator;
}

tl::unexpected<store::Error> invalid_shard_iterator() { return store::refuse_invalid("Invalid ShardIterator"); }

}  // namespace postino::engine
