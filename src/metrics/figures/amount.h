// What a figure consists of: how many, and the sum of what was measured of them. Sums are exact, to the thousandth.
#pragma once

#include <cstdint>
#include <optional>

#include "item/value.h"

namespace postino::metrics {

struct Amount {
  std::int64_t count = 0;
  std::int64_t thousandths = 0;  // of the sum: 1,500 for 1.5 seconds

  bool is_zero() const { return count == 0 && thousandths == 0; }
  Amount& operator+=(const Amount& other);
  Amount operator-() const { return {-count, -thousandths}; }
  friend bool operator==(const Amount&, const Amount&) = default;
};

item::Number number_of_thousandths(std::int64_t thousandths);
// What is finer than that is cut off; nothing for a number that is too large.
std::optional<std::int64_t> thousandths_of(const item::Number& number);

// The average, in thousandths; 0 of nothing.
std::int64_t average_of(const Amount& amount);

}  // namespace postino::metrics
