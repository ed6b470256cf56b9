// The numbers of the binary format. They are on disk: never change or reuse one.
#pragma once

#include <cstdint>

namespace postino::item {

// Every value begins with its tag. Lengths and counts are LEB128 varints, always as short as possible; the members
// of a set and the names of a map are in strictly ascending order. So a value has exactly one encoding.
enum class Tag : std::uint8_t {
  null = 1,
  boolean_false = 2,
  boolean_true = 3,
  string = 4,            // length, bytes
  binary = 5,            // length, bytes
  integer = 6,           // zigzag varint: every integer that fits into 64 bits
  positive_decimal = 7,  // zigzag varint of the exponent, varint of the coefficient (up to 127 bits, no trailing zero)
  negative_decimal = 8,
  string_set = 9,   // count, then length and bytes of each
  number_set = 10,  // count, then each as a value
  binary_set = 11,  // count, then length and bytes of each
  list = 12,        // count, then each as a value
  map = 13,         // count, then length and bytes of each name with its value
};

// Items nest to 32 levels below the item itself. A little more, so that a changed rule can still read old data.
inline constexpr int max_encoded_depth = 40;

constexpr std::uint64_t to_zigzag(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t from_zigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1 ^ (0 - (value & 1)));
}

}  // namespace postino::item
