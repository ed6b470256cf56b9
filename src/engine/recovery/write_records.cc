#include "engine/recovery/write_records.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace postino::engine {

namespace {

// A batch is the sequence number of its first write (8 bytes), how many there are (4), and the writes. Each begins with
// its kind; those of other families than the first name theirs.
constexpr std::size_t batch_header_size = 12;

enum WriteKind : std::uint8_t {
  write_deletion = 0,
  write_value = 1,
  write_note = 3,
  write_family_deletion = 4,
  write_family_value = 5,
  write_single_deletion = 7,
  write_family_single_deletion = 8,
  write_nothing = 13,
  write_family_range_deletion = 14,
  write_range_deletion = 15,
};

std::uint64_t load_header(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return value;
}

std::optional<std::string_view> sized(base::ByteReader& reader) {
  const auto size = reader.varint();
  return size ? reader.take(*size) : std::nullopt;
}

struct Write {
  std::uint64_t family = 0;
  Record record;
};

bool read_key(base::ByteReader& reader, bool names_family, Write& write) {
  const auto family = names_family ? reader.varint() : std::optional<std::uint64_t>(0);
  const auto key = family ? sized(reader) : std::nullopt;
  if (!key) return false;
  write.family = *family;
  write.record.key = *key;
  return true;
}

bool read_written_value(base::ByteReader& reader, Write& write) {
  const auto value = sized(reader);
  write.record.value = value.value_or("");
  return value.has_value();
}

// False when it cannot be understood.
bool read_write(base::ByteReader& reader, std::uint8_t kind, Write& write) {
  switch (kind) {
    case write_value:
    case write_family_value:
      write.record.kind = RecordKind::value;
      return read_key(reader, kind == write_family_value, write) && read_written_value(reader, write);
    case write_deletion:
    case write_single_deletion:
    case write_family_deletion:
    case write_family_single_deletion:
      write.record.kind = RecordKind::deletion;
      return read_key(reader, kind == write_family_deletion || kind == write_family_single_deletion, write);
    case write_range_deletion:
    case write_family_range_deletion:
      write.record.kind = RecordKind::range_deletion;
      return read_key(reader, kind == write_family_range_deletion, write) && read_written_value(reader, write);
    default:
      return false;
  }
}

}  // namespace

bool read_writes(std::string_view record, const EachWrite& each) {
  if (record.size() < batch_header_size) return false;
  std::uint64_t sequence = load_header(record.substr(0, 8));
  const std::uint64_t count = load_header(record.substr(8, 4));
  std::vector<Write> writes;
  for (base::ByteReader reader(record.substr(batch_header_size)); !reader.empty();) {
    const std::uint8_t kind = *reader.byte();
    if (kind == write_nothing) continue;
    if (kind == write_note) {
      if (!sized(reader)) return false;
      continue;
    }
    Write write;
    if (!read_write(reader, kind, write)) return false;
    write.record.sequence = sequence++;
    writes.push_back(write);
  }
  if (writes.size() != count) return false;
  for (const Write& write : writes) each(write.family, write.record);
  return true;
}

std::optional<WriteNumbers> numbers_of_writes(std::string_view record) {
  constexpr std::size_t number_size = 8;
  if (record.size() < batch_header_size) return std::nullopt;
  return WriteNumbers{load_header(record.substr(0, number_size)),
                      load_header(record.substr(number_size, batch_header_size - number_size))};
}

}  // namespace postino::engine
