#include "engine/streams/stream_record.h"

#include "base/bytes.h"
#include "item/binary_codec.h"
#include "item/size.h"

namespace postino::engine {

namespace {

constexpr char stream_record_format = 1;
constexpr std::uint8_t by_time_to_live_flag = 1;
constexpr std::uint8_t old_image_flag = 2;
constexpr std::uint8_t new_image_flag = 4;

bool shows_old(store::StreamViewType view) {
  return view == store::StreamViewType::old_image || view == store::StreamViewType::new_and_old_images;
}
bool shows_new(store::StreamViewType view) {
  return view == store::StreamViewType::new_image || view == store::StreamViewType::new_and_old_images;
}

store::ChangeType type_of(const StoredItemPointer& before, const StoredItemPointer& after) {
  if (!before) return store::ChangeType::insert;
  return after ? store::ChangeType::modify : store::ChangeType::remove;
}

item::Key keys_of(const Table& table, const item::Item& item) {
  item::Key keys;
  keys.set(table.hash.name, *item.find(table.hash.name));
  if (table.range) keys.set(table.range->name, *item.find(table.range->name));
  return keys;
}

struct Header {
  std::uint8_t flags = 0;
  store::StreamRecord record;
};

tl::unexpected<base::Error> damaged() {
  return base::fail(base::ErrorCode::corrupt, "a stored stream record has an unknown format");
}

base::Result<Header> read_header(base::ByteReader& reader) {
  const auto format = reader.byte();
  const auto type = reader.byte();
  const auto view = reader.byte();
  const auto flags = reader.byte();
  const auto time = reader.varint();
  const auto size = reader.varint();
  if (!size || *format != stream_record_format || *type > 2 || *view > 3) return damaged();
  Header header;
  header.flags = *flags;
  header.record.type = static_cast<store::ChangeType>(*type);
  header.record.view_type = static_cast<store::StreamViewType>(*view);
  header.record.by_time_to_live = (*flags & by_time_to_live_flag) != 0;
  header.record.time = base::from_epoch_milliseconds(static_cast<std::int64_t>(*time));
  header.record.size_bytes = static_cast<std::int64_t>(*size);
  return header;
}

base::Result<std::optional<item::Item>> read_image(base::ByteReader& reader, bool present) {
  if (!present) return std::nullopt;
  const auto length = reader.varint();
  const auto bytes = length ? reader.take(*length) : std::nullopt;
  if (!bytes) return damaged();
  TRY(MeasuredItem image, read_item(*bytes));
  return std::optional<item::Item>(std::move(image.item));
}

}  // namespace

std::string encode_stream_record(const Table& table, store::StreamViewType view, const StoredItemPointer& before,
                                 const StoredItemPointer& after, base::TimePoint now, bool by_time_to_live) {
  const bool with_old = before && shows_old(view);
  const bool with_new = after && shows_new(view);
  const item::Key keys = keys_of(table, (after ? after : before)->item);
  const std::size_t size = item::size_of(keys) + (with_old ? before->size : 0) + (with_new ? after->size : 0);
  std::string out;
  out.reserve(64 + (with_old ? before->bytes.size() : 0) + (with_new ? after->bytes.size() : 0));
  out.push_back(stream_record_format);
  out.push_back(static_cast<char>(type_of(before, after)));
  out.push_back(static_cast<char>(view));
  out.push_back(static_cast<char>((by_time_to_live ? by_time_to_live_flag : 0) | (with_old ? old_image_flag : 0) |
                                  (with_new ? new_image_flag : 0)));
  base::append_varint(out, static_cast<std::uint64_t>(base::epoch_milliseconds(now)));
  base::append_varint(out, size);
  std::string encoded_keys;
  item::encode(encoded_keys, keys);
  base::append_sized(out, encoded_keys);
  if (with_old) base::append_sized(out, before->bytes);
  if (with_new) base::append_sized(out, after->bytes);
  return out;
}

base::Result<store::StreamRecord> decode_stream_record(std::string_view bytes) {
  base::ByteReader reader(bytes);
  TRY(Header header, read_header(reader));
  const auto length = reader.varint();
  const auto keys = length ? reader.take(*length) : std::nullopt;
  if (!keys) return damaged();
  TRY(header.record.keys, item::decode_map(*keys));
  TRY(header.record.old_image, read_image(reader, (header.flags & old_image_flag) != 0));
  TRY(header.record.new_image, read_image(reader, (header.flags & new_image_flag) != 0));
  if (!reader.empty()) return damaged();
  return std::move(header.record);
}

base::Result<base::TimePoint> time_of_stream_record(std::string_view bytes) {
  base::ByteReader reader(bytes);
  TRY(Header header, read_header(reader));
  return header.record.time;
}

}  // namespace postino::engine
