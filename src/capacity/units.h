// What requests cost on DynamoDB, in its units of capacity: reads by started blocks of 4 KB, writes by started blocks
// of 1 KB. Pure functions. A kilobyte has 1,024 bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "capacity/decimal.h"

namespace postino::capacity {

inline constexpr std::int64_t read_block_bytes = 4'096;
inline constexpr std::int64_t write_block_bytes = 1'024;
inline constexpr std::int64_t item_overhead_bytes = 100;  // of storage, for each item and each entry of an index
inline constexpr std::int64_t gigabyte = std::int64_t{1} << 30;
inline constexpr std::int64_t transaction_factor = 2;

// What one partition gives in a second.
inline constexpr std::int64_t partition_read_units = 3'000;
inline constexpr std::int64_t partition_write_units = 1'000;

enum class Consistency { eventual, strong, transactional };
enum class Projection { keys_only, include, all };

std::string_view name_of(Projection projection);  // "KEYS_ONLY"

// One item, by its whole size, whatever is shown of it. An item that is not there counts as one of one block.
Decimal read_units(std::int64_t item_bytes, Consistency consistency);

// A query or a scan: the sizes of all items that are examined are added up, and the sum is rounded. Filters and
// projections make no difference. Nothing found counts as one block.
Decimal page_units(std::int64_t examined_bytes, Consistency consistency);

// A put or an update counts the larger of the item before and the item after, a delete the item before. A write whose
// condition fails counts the item that is there. An item that is not there counts as one of one block. What expires by
// its time to live costs nothing.
std::int64_t write_units(std::int64_t before_bytes, std::int64_t after_bytes, bool transactional = false);

// What such a write costs in an index besides: the entry before and the entry after it, if there are any.
struct IndexWrite {
  std::optional<std::int64_t> before_bytes;
  std::optional<std::int64_t> after_bytes;
  bool key_changed = false;
  bool entry_changed = true;  // in an attribute that the index has
};
std::int64_t index_write_units(const IndexWrite& write);

// Bytes that are paid for.
std::int64_t stored_bytes(std::int64_t items, std::int64_t item_bytes);

}  // namespace postino::capacity
