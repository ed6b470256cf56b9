// Where things are: the keys of the column families, and what all of them begin with. Those of items and index entries
// are in catalog/item_keys.h. The layouts are part of the disk format: docs/formats.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/stream.h"

namespace postino::engine {

using ObjectId = std::uint32_t;                                  // of tables, indexes and streams; never used twice
inline constexpr std::size_t object_id_size = sizeof(ObjectId);  // in keys
inline constexpr std::size_t partition_hash_size = 4;            // in keys of items and index entries, behind the id

// The numbers of change records in this store: one sequence for all of its streams.
using RecordNumber = std::uint64_t;

// As callers see it: '1' and 20 digits, in numeric order.
store::SequenceNumber shown_number(RecordNumber number);
// nullopt: it has another form, so it is not a number of this store.
std::optional<RecordNumber> record_number(const store::SequenceNumber& shown);

struct KeyRange {
  std::string lower;  // inclusive
  std::string upper;  // exclusive

  friend bool operator==(const KeyRange&, const KeyRange&) = default;
};

// expiry: table id, second of expiry, item key without its table id.
std::string expiry_key(ObjectId table, std::int64_t second, std::string_view stored_item_key);
struct ExpiryEntry {
  std::int64_t second = 0;
  std::string stored_item_key;
};
ExpiryEntry parse_expiry_key(std::string_view key);

// streams: stream id, sequence number.
std::string stream_key(ObjectId stream, RecordNumber number);
RecordNumber sequence_number_of(std::string_view stored_stream_key);

// undo: table id, time of the commit in milliseconds since 1970, and a number that grows with every record. Commits of
// one time differ by it.
std::string undo_key(ObjectId table, std::int64_t time, RecordNumber number);
struct UndoPlace {
  std::int64_t time = 0;
  RecordNumber number = 0;
};
// nullopt: it is no such key.
std::optional<UndoPlace> parse_undo_key(std::string_view key);

// All keys of one table, index or stream: [id_prefix(id), id_prefix(id + 1)).
std::string id_prefix(ObjectId id);

// The first key that does not start with prefix; prefix must not be all 0xFF.
std::string after_prefix(std::string prefix);

}  // namespace postino::engine
