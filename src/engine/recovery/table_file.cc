#include "engine/recovery/table_file.h"

#include <fcntl.h>
#include <lz4.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/bytes.h"
#include "base/descriptor.h"

namespace postino::engine {

namespace {

// Behind each block stand the way it is compressed (1 byte) and its checksum (4).
constexpr std::size_t block_trailer_size = 5;
enum BlockCompression : std::uint8_t { stored_plainly = 0, stored_with_lz4 = 4, stored_with_zstd = 7 };

// At the end of the file: kind of checksum (1), places of metaindex and index (40), version of the format (4), and a
// number that all such files end with (8).
constexpr std::size_t footer_size = 53;
constexpr std::size_t footer_places_size = 40;
constexpr std::uint64_t table_magic = 0x88e241b785f4cff7;
constexpr std::uint8_t checksum_xxh3 = 4;

// Behind each key: the kind of the record (1) and its sequence number (7).
constexpr std::size_t key_trailer_size = 8;

// No block with records or properties is larger: items have at most 400 KB.
constexpr std::uint64_t largest_block = 2 << 20;
// Behind damage every place may be the beginning of a block. Blocks are cut at 8 KB, so most are found with this.
constexpr std::uint64_t largest_block_behind_damage = 32 << 10;
constexpr std::uint64_t furthest_behind_damage = 256 << 10;

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return value;
}

std::uint32_t block_checksum(std::uint64_t hash, std::uint8_t compression) {
  constexpr std::uint32_t factor = 0x6b9083d9;
  return static_cast<std::uint32_t>(hash) ^ compression * factor;
}

bool is_compression(std::uint8_t byte) {
  return byte == stored_plainly || byte == stored_with_lz4 || byte == stored_with_zstd;
}

std::optional<std::string> decompress(std::string_view stored, std::uint8_t compression) {
  if (compression == stored_plainly) return std::string(stored);
  base::ByteReader reader(stored);
  const auto size = reader.varint();
  constexpr std::uint64_t largest = 64 << 20;
  if (!size || *size > largest) return std::nullopt;
  std::string contents(*size, '\0');
  const std::string_view packed = reader.rest();
  if (compression == stored_with_lz4) {
    const int made = LZ4_decompress_safe(packed.data(), contents.data(), static_cast<int>(packed.size()),
                                         static_cast<int>(contents.size()));
    return made == static_cast<int>(contents.size()) ? std::optional(std::move(contents)) : std::nullopt;
  }
  const std::size_t made = ZSTD_decompress(contents.data(), contents.size(), packed.data(), packed.size());
  return made == contents.size() ? std::optional(std::move(contents)) : std::nullopt;
}

// A block is a row of entries, then the places of some of them, and how many places there are. An entry is a key, of
// which the beginning that it shares with the one before is left out, and a value.
std::optional<std::string_view> entries_of(std::string_view contents) {
  if (contents.size() < sizeof(std::uint32_t)) return std::nullopt;
  const std::uint64_t places = little_endian(contents.substr(contents.size() - 4)) & 0x7FFFFFFF;
  const std::uint64_t tail = sizeof(std::uint32_t) * (places + 1);
  if (places == 0 || tail > contents.size()) return std::nullopt;
  return contents.substr(0, contents.size() - tail);
}

// False when the bytes are not those of a block, or `each` says that an entry cannot be right.
template <class Each>
bool each_entry(std::string_view contents, const Each& each) {
  const auto entries = entries_of(contents);
  if (!entries) return false;
  base::ByteReader reader(*entries);
  std::string key;
  while (!reader.empty()) {
    const auto shared = reader.varint();
    const auto rest = reader.varint();
    const auto value_size = reader.varint();
    if (!shared || !rest || !value_size || *shared > key.size()) return false;
    const auto key_rest = reader.take(*rest);
    const auto value = key_rest ? reader.take(*value_size) : std::nullopt;
    if (!value) return false;
    key.resize(*shared);
    key.append(*key_rest);
    if (!each(key, *value)) return false;
  }
  return true;
}

std::optional<Record> record_of(std::string_view key, std::string_view value) {
  constexpr std::uint8_t single_deletion = 7;
  if (key.size() < key_trailer_size) return std::nullopt;
  const std::uint64_t trailer = little_endian(key.substr(key.size() - key_trailer_size));
  Record record{key.substr(0, key.size() - key_trailer_size), trailer >> 8, RecordKind::value, value};
  switch (trailer & 0xFF) {
    case static_cast<std::uint8_t>(RecordKind::value):
      return record;
    case static_cast<std::uint8_t>(RecordKind::deletion):
    case single_deletion:
      record.kind = RecordKind::deletion;
      return record;
    case static_cast<std::uint8_t>(RecordKind::range_deletion):
      record.kind = RecordKind::range_deletion;
      return record;
    default:
      return std::nullopt;
  }
}

bool is_block_of_records(std::string_view contents) {
  std::string last;
  bool any = false;
  const bool whole = each_entry(contents, [&](const std::string& key, std::string_view value) {
    const auto record = record_of(key, value);
    if (!record || (any && record->key < last)) return false;
    last = record->key;
    any = true;
    return true;
  });
  return whole && any;
}

// Bytes that the disk cannot read are zeros, and fail the checksum of their block.
base::Result<std::string> read_around_faults(const std::filesystem::path& file) {
  const auto failed = [&] {
    return base::fail(base::ErrorCode::io, "cannot read '" + file.string() + "': " + std::strerror(errno));
  };
  const base::Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!opened || ::fstat(opened.number(), &status) != 0) return failed();
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  constexpr std::size_t step = 1 << 20;
  constexpr std::size_t sector = 4 << 10;
  std::size_t piece = step;
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t wanted = std::min(piece, bytes.size() - done);
    const ssize_t count = ::pread(opened.number(), bytes.data() + done, wanted, static_cast<off_t>(done));
    if (count > 0)
      done += static_cast<std::size_t>(count);
    else if (count == 0)
      break;  // shorter than it was
    else if (errno != EINTR && piece == step)
      piece = sector;
    else if (errno != EINTR)
      done += wanted;
  }
  return bytes;
}

}  // namespace

base::Result<TableFile> TableFile::open(const std::filesystem::path& file) {
  TableFile table;
  TRY(table.bytes_, read_around_faults(file));
  if (!table.find_blocks_by_index()) {
    table.blocks_.clear();
    table.find_blocks_by_checksum();
  }
  return table;
}

bool TableFile::find_blocks_by_index() {
  if (bytes_.size() < footer_size) return false;
  const std::string_view footer = std::string_view(bytes_).substr(bytes_.size() - footer_size);
  if (little_endian(footer.substr(footer_size - 8)) != table_magic) return false;
  if (static_cast<std::uint8_t>(footer.front()) != checksum_xxh3) return false;
  const auto place = [](base::ByteReader& reader) -> std::optional<Block> {
    const auto offset = reader.varint();
    const auto size = reader.varint();
    return offset && size ? std::optional(Block{*offset, *size}) : std::nullopt;
  };
  base::ByteReader places(footer.substr(1, footer_places_size));
  const auto metaindex = place(places);
  const auto index = place(places);
  const auto index_contents = index ? contents_of(*index) : std::nullopt;
  const auto metaindex_contents = metaindex ? contents_of(*metaindex) : std::nullopt;
  if (!index_contents || !metaindex_contents) return false;

  // An entry of the index has no size of its value, which is the place of a block.
  const auto entries = entries_of(*index_contents);
  if (!entries) return false;
  for (base::ByteReader reader(*entries); !reader.empty();) {
    const auto shared = reader.varint();
    const auto rest = reader.varint();
    if (!shared || *shared != 0 || !rest || !reader.take(*rest)) return false;
    const auto block = place(reader);
    if (!block) return false;
    blocks_.push_back(*block);
  }
  // Damaged properties leave the family to be told by others; the places of the blocks are good.
  return each_entry(*metaindex_contents, [&](const std::string& name, std::string_view value) {
    base::ByteReader reader(value);
    const auto block = place(reader);
    if (!block) return true;
    if (name == "rocksdb.range_del") blocks_.push_back(*block);
    if (name == "rocksdb.properties")
      if (const auto contents = contents_of(*block)) read_properties(*contents);
    return true;
  });
}

void TableFile::read_properties(std::string_view contents) {
  std::optional<std::uint64_t> family;
  std::optional<std::uint64_t> count;
  const bool whole = each_entry(contents, [&](const std::string& name, std::string_view value) {
    base::ByteReader reader(value);
    if (name == "rocksdb.column.family.id") family = reader.varint();
    if (name == "rocksdb.num.entries") count = reader.varint();
    return true;
  });
  if (!whole || !family) return;
  family_ = family;
  record_count_ = count;
}

// Blocks with records come first, then the others: filter, index, range deletions, properties.
void TableFile::find_blocks_by_checksum() {
  bool in_data = true;
  std::uint64_t offset = 0;
  while (offset < bytes_.size()) {
    auto block = block_at(offset, largest_block);
    if (!block) block = block_behind(offset + 1);
    const bool was_in_data = in_data;
    if (block) take_found_block(*block, in_data);
    const std::uint64_t next = block ? block->offset : bytes_.size();
    if (was_in_data && next > offset) lost_.push_back({offset, next - offset});
    if (!block) return;
    offset = block->offset + block->size + block_trailer_size;
  }
}

void TableFile::take_found_block(const Block& block, bool& in_data) {
  const auto contents = contents_of(block);
  if (!contents) return;
  if (is_block_of_records(*contents))
    blocks_.push_back(block);
  else
    in_data = false;
  read_properties(*contents);
}

// The block that begins here: the first bytes that have their checksum behind them.
std::optional<TableFile::Block> TableFile::block_at(std::uint64_t offset, std::uint64_t most) const {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  if (!state || XXH3_64bits_reset(state.get()) != XXH_OK) return std::nullopt;
  std::uint64_t hashed = offset;
  for (std::uint64_t end = offset + 1; end + block_trailer_size <= bytes_.size() && end - offset <= most; ++end) {
    const auto compression = static_cast<std::uint8_t>(bytes_[end]);
    if (!is_compression(compression)) continue;
    static_cast<void>(XXH3_64bits_update(state.get(), bytes_.data() + hashed, end - hashed));
    hashed = end;
    const auto stored = static_cast<std::uint32_t>(little_endian(std::string_view(bytes_).substr(end + 1, 4)));
    if (block_checksum(XXH3_64bits_digest(state.get()), compression) == stored) return Block{offset, end - offset};
  }
  return std::nullopt;
}

std::optional<TableFile::Block> TableFile::block_behind(std::uint64_t offset) const {
  const std::uint64_t furthest = std::min<std::uint64_t>(bytes_.size(), offset + furthest_behind_damage);
  for (; offset < furthest; ++offset) {
    const auto block = block_at(offset, largest_block_behind_damage);
    // A few bytes have the right checksum by chance: what is in them must be a block as well.
    if (!block) continue;
    const auto contents = contents_of(*block);
    if (contents && each_entry(*contents, [](const std::string&, std::string_view) { return true; })) return block;
  }
  return std::nullopt;
}

std::optional<std::string> TableFile::contents_of(const Block& block) const {
  if (block.offset > bytes_.size() || block.size > bytes_.size() - block.offset ||
      bytes_.size() - block.offset - block.size < block_trailer_size)
    return std::nullopt;
  const std::string_view stored = std::string_view(bytes_).substr(block.offset, block.size);
  const std::string_view trailer = std::string_view(bytes_).substr(block.offset + block.size, block_trailer_size);
  const auto compression = static_cast<std::uint8_t>(trailer.front());
  const std::uint32_t checksum = block_checksum(XXH3_64bits(stored.data(), stored.size()), compression);
  if (!is_compression(compression) || checksum != little_endian(trailer.substr(1))) return std::nullopt;
  return decompress(stored, compression);
}

void TableFile::each_record(const std::function<void(const Record&)>& each) {
  for (const Block& block : blocks_) {
    const auto contents = contents_of(block);
    const bool whole = contents && each_entry(*contents, [&](const std::string& key, std::string_view value) {
                         const auto record = record_of(key, value);
                         if (record) each(*record);
                         return record.has_value();
                       });
    if (!whole) lost_.push_back({block.offset, block.size});
  }
}

}  // namespace postino::engine
