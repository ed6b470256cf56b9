#include "engine/items/expiry_group.h"

#include <map>
#include <span>

#include "base/bytes.h"
#include "base/hash.h"

namespace postino::engine {

namespace {

// Fewer items get entries of their own: those are removed with their items.
constexpr std::size_t least_items = 3;

constexpr std::uint64_t group_mark = std::uint64_t{1}
                                     << 63;  // no second has it, so groups come after all other entries
constexpr std::size_t second_end = object_id_size + sizeof(std::int64_t);
constexpr std::size_t length_size = 2;
constexpr std::size_t sum_size = 8;

// Of an item key: up to the end of its partition key. npos when it is none.
std::size_t partition_end(std::string_view stored_item_key, std::size_t begin) {
  if (stored_item_key.size() < begin + partition_hash_size + length_size) return std::string_view::npos;
  const std::size_t length = base::load_big_endian<std::uint16_t>(stored_item_key.data() + begin + partition_hash_size);
  const std::size_t end = begin + partition_hash_size + length_size + length;
  return end <= stored_item_key.size() ? end : std::string_view::npos;
}

// The sum tells groups of one partition and second apart. Two with the same items are the same.
void put_group(std::string prefix, std::span<const NewExpiry* const> items, std::size_t sort_key_begin,
               CommitEntry& entry) {
  std::string value;
  for (const NewExpiry* each : items)
    base::append_sized(value, std::string_view(each->stored_item_key).substr(sort_key_begin));
  base::append_big_endian(prefix, base::fast_hash(value));
  entry.put(Family::expiry, std::move(prefix), std::move(value));
}

}  // namespace

void plan_new_expiries(CommitEntry& entry) {
  std::map<std::string, std::vector<const NewExpiry*>> groups;  // by what their keys begin with
  for (const NewExpiry& each : entry.new_expiries)
    groups[expiry_groups_of(each.second, each.stored_item_key)].push_back(&each);
  for (auto& [prefix, items] : groups) {
    if (items.size() >= least_items) {
      put_group(prefix, items, partition_end(items.front()->stored_item_key, object_id_size), entry);
      continue;
    }
    for (const NewExpiry* each : items) {
      const auto table = base::load_big_endian<ObjectId>(each->stored_item_key.data());
      entry.put(Family::expiry, expiry_key(table, each->second, each->stored_item_key), {});
    }
  }
  entry.new_expiries.clear();
}

bool is_expiry_group(std::string_view key) {
  return key.size() > object_id_size && (static_cast<unsigned char>(key[object_id_size]) & 0x80U) != 0;
}

base::Result<ExpiryGroup> parse_expiry_group(std::string_view key, std::string_view value) {
  const auto damaged = [&] {
    return base::fail(base::ErrorCode::corrupt, "the expiry entry " + base::to_hex(key) + " cannot be read");
  };
  const std::size_t end = is_expiry_group(key) ? partition_end(key, second_end) : std::string_view::npos;
  if (end == std::string_view::npos || key.size() != end + sum_size) return damaged();
  if (base::load_big_endian<std::uint64_t>(key.data() + end) != base::fast_hash(value)) return damaged();
  ExpiryGroup group;
  group.second =
      static_cast<std::int64_t>(base::load_big_endian<std::uint64_t>(key.data() + object_id_size) & ~group_mark);
  std::string partition(key.substr(0, object_id_size));
  partition.append(key.substr(second_end, end - second_end));
  base::ByteReader reader(value);
  while (!reader.empty()) {
    const auto size = reader.varint();
    const auto sort_key = size ? reader.take(*size) : std::nullopt;
    if (!sort_key) return damaged();
    group.stored_item_keys.push_back(partition + std::string(*sort_key));
  }
  return group;
}

std::string first_expiry_group(ObjectId table, std::int64_t second) {
  std::string key = id_prefix(table);
  base::append_big_endian(key, static_cast<std::uint64_t>(second) | group_mark);
  return key;
}

std::string expiry_groups_of(std::int64_t second, std::string_view stored_item_key) {
  std::string key = first_expiry_group(base::load_big_endian<ObjectId>(stored_item_key.data()), second);
  key.append(stored_item_key.substr(object_id_size, partition_end(stored_item_key, object_id_size) - object_id_size));
  return key;
}

}  // namespace postino::engine
