// Decimal digits of 128-bit integers, for the representations of Number.
#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>

#include "item/number.h"

namespace postino::item {

inline constexpr auto powers_of_ten = [] {
  std::array<Number::Coefficient, Number::max_digits + 1> powers{};
  powers[0] = 1;
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

// Zero has none.
inline int count_digits(Number::Coefficient value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  const auto bits =
      static_cast<int>(high != 0 ? 64 + std::bit_width(high) : std::bit_width(static_cast<std::uint64_t>(value)));
  const int at_least = bits * 1233 >> 12;  // 1233 / 4096 is just below log10(2)
  return at_least + (value >= powers_of_ten[static_cast<std::size_t>(at_least)] ? 1 : 0);
}

inline bool is_multiple_of_ten(Number::Coefficient value) {
  // 2^64 leaves 6 modulo 10; so no 128-bit division, which is slow.
  const auto high = static_cast<std::uint64_t>(value >> 64);
  const auto low = static_cast<std::uint64_t>(value);
  return (high % 10 * 6 + low % 10) % 10 == 0;
}

// Writes the digits of a coefficient (at most max_digits of them) and returns the end.
inline char* write_digits(char* out, Number::Coefficient value) {
  constexpr int half_digits = 19;  // the most that 64 bits always hold
  if (value >> 64 == 0) return std::to_chars(out, out + half_digits + 1, static_cast<std::uint64_t>(value)).ptr;
  const Number::Coefficient half = powers_of_ten[half_digits];
  out = std::to_chars(out, out + half_digits, static_cast<std::uint64_t>(value / half)).ptr;
  auto low = static_cast<std::uint64_t>(value % half);
  for (char* digit = out + half_digits; digit != out; low /= 10) *--digit = static_cast<char>('0' + low % 10);
  return out + half_digits;
}

}  // namespace postino::item
