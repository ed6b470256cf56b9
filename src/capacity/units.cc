#include "capacity/units.h"

#include <algorithm>

namespace postino::capacity {

namespace {

std::int64_t started_blocks(std::int64_t bytes, std::int64_t block_bytes) {
  return std::max<std::int64_t>(1, (bytes + block_bytes - 1) / block_bytes);
}

}  // namespace

std::string_view name_of(Projection projection) {
  switch (projection) {
    case Projection::keys_only:
      return "KEYS_ONLY";
    case Projection::include:
      return "INCLUDE";
    case Projection::all:
      break;
  }
  return "ALL";
}

Decimal read_units(std::int64_t item_bytes, Consistency consistency) {
  const std::int64_t blocks = started_blocks(item_bytes, read_block_bytes);
  if (consistency == Consistency::eventual) return Decimal::halves(blocks);
  return consistency == Consistency::strong ? blocks : transaction_factor * blocks;
}

Decimal page_units(std::int64_t examined_bytes, Consistency consistency) {
  return read_units(examined_bytes, consistency);
}

std::int64_t write_units(std::int64_t before_bytes, std::int64_t after_bytes, bool transactional) {
  const std::int64_t blocks = started_blocks(std::max(before_bytes, after_bytes), write_block_bytes);
  return transactional ? transaction_factor * blocks : blocks;
}

std::int64_t index_write_units(const IndexWrite& write) {
  const auto units = [](std::int64_t bytes) { return write_units(0, bytes); };
  if (!write.before_bytes && !write.after_bytes) return 0;
  if (!write.before_bytes) return units(*write.after_bytes);
  if (!write.after_bytes) return units(*write.before_bytes);
  if (write.key_changed) return units(*write.before_bytes) + units(*write.after_bytes);
  return write.entry_changed ? units(std::max(*write.before_bytes, *write.after_bytes)) : 0;
}

std::int64_t stored_bytes(std::int64_t items, std::int64_t item_bytes) {
  return items * (item_bytes + item_overhead_bytes);
}

}  // namespace postino::capacity
