#include "engine/storage/keys.h"

#include <charconv>
#include <cstdio>

#include "base/bytes.h"
#include "base/check.h"

namespace postino::engine {

namespace {

constexpr std::size_t record_number_digits = 20;  // of the largest 64-bit number

}  // namespace

store::SequenceNumber shown_number(RecordNumber number) {
  char text[record_number_digits + 2];
  std::snprintf(text, sizeof text, "1%020llu", static_cast<unsigned long long>(number));
  const auto shown = store::SequenceNumber::parse(text);
  CHECK(shown);
  return *shown;
}

std::optional<RecordNumber> record_number(const store::SequenceNumber& shown) {
  const std::string text = shown.text();
  if (text.size() != record_number_digits + 1 || text.front() != '1') return std::nullopt;
  RecordNumber number = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

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

std::string stream_key(ObjectId stream, RecordNumber number) {
  std::string key;
  base::append_big_endian(key, stream);
  base::append_big_endian(key, number);
  return key;
}

RecordNumber sequence_number_of(std::string_view stored_stream_key) {
  CHECK(stored_stream_key.size() == object_id_size + sizeof(RecordNumber));
  return base::load_big_endian<RecordNumber>(stored_stream_key.data() + object_id_size);
}

std::string undo_key(ObjectId table, std::int64_t time, RecordNumber number) {
  std::string key;
  base::append_big_endian(key, table);
  base::append_big_endian(key, time);
  base::append_big_endian(key, number);
  return key;
}

std::optional<UndoPlace> parse_undo_key(std::string_view key) {
  if (key.size() != object_id_size + sizeof(std::int64_t) + sizeof(RecordNumber)) return std::nullopt;
  UndoPlace place;
  place.time = base::load_big_endian<std::int64_t>(key.data() + object_id_size);
  place.number = base::load_big_endian<RecordNumber>(key.data() + object_id_size + sizeof place.time);
  return place;
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
