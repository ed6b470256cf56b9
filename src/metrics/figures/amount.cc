#include "metrics/figures/amount.h"

#include "base/check.h"

namespace postino::metrics {

namespace {

constexpr int digits_after_point = 3;

}  // namespace

Amount& Amount::operator+=(const Amount& other) {
  count += other.count;
  thousandths += other.thousandths;
  return *this;
}

item::Number number_of_thousandths(std::int64_t thousandths) {
  const bool negative = thousandths < 0;
  const auto size = negative ? ~static_cast<std::uint64_t>(thousandths) + 1 : static_cast<std::uint64_t>(thousandths);
  const auto number = item::Number::make(negative, size, -digits_after_point);
  CHECK(number);  // nineteen digits fit
  return *number;
}

std::optional<std::int64_t> thousandths_of(const item::Number& number) {
  constexpr item::Number::Coefficient most = INT64_MAX / 2;
  if (number.is_zero()) return 0;
  // The first digit decides whether it can fit, so that the loops below end.
  if (number.magnitude() > 15) return std::nullopt;
  if (number.magnitude() < -digits_after_point) return 0;
  item::Number::Coefficient size = number.coefficient();
  int exponent = number.exponent() + digits_after_point;
  for (; exponent < 0; ++exponent) size /= 10;
  for (; exponent > 0; --exponent) size *= 10;
  if (size > most) return std::nullopt;
  const auto value = static_cast<std::int64_t>(size);
  return number.negative() ? -value : value;
}

std::int64_t average_of(const Amount& amount) { return amount.count <= 0 ? 0 : amount.thousandths / amount.count; }

}  // namespace postino::metrics
