#include "engine/catalog/undo_record.h"

#include "base/bytes.h"
#include "engine/storage/keys.h"

namespace postino::engine {

namespace {

constexpr char undo_record_format = 1;
constexpr std::uint8_t had_item_flag = 1;

}  // namespace

std::string encode_undo_record(std::string_view stored_item_key, const StoredItemPointer& before) {
  const std::string_view key_rest = stored_item_key.substr(object_id_size);
  std::string out;
  out.reserve(8 + key_rest.size() + (before ? before->bytes.size() : 0));
  out.push_back(undo_record_format);
  out.push_back(static_cast<char>(before ? had_item_flag : 0));
  base::append_sized(out, key_rest);
  if (before) out.append(before->bytes);
  return out;
}

base::Result<UndoRecord> read_undo_record(std::string_view bytes) {
  base::ByteReader reader(bytes);
  const auto format = reader.byte();
  const auto flags = reader.byte();
  const auto size = reader.varint();
  const auto key_rest = size ? reader.take(*size) : std::nullopt;
  if (!key_rest || *format != undo_record_format || *flags > had_item_flag)
    return base::fail(base::ErrorCode::corrupt, "a stored undo record has an unknown format");
  UndoRecord record{*key_rest, std::nullopt};
  if ((*flags & had_item_flag) != 0) record.image = reader.rest();
  if (record.image.has_value() == reader.rest().empty())
    return base::fail(base::ErrorCode::corrupt, "a stored undo record has an unknown format");
  return record;
}

}  // namespace postino::engine
