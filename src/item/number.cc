#include "item/number.h"

#include <limits>

#include "item/decimal_digits.h"
#include "item/number_errors.h"

namespace postino::item {
namespace {

using Coefficient = Number::Coefficient;

struct Decimal {
  bool negative;
  Coefficient coefficient;
  int exponent;
};

// coefficient x 10^shift, unless a sum with anything up to 38 digits would still have more than 38.
std::optional<Coefficient> shift_left(Coefficient coefficient, int shift) {
  const int digits = count_digits(coefficient);
  if (digits + shift > Number::max_digits + 1) return std::nullopt;
  // With 39 digits a subtraction can bring it back to 38, but only from below 2E38, and that fits into 128 bits.
  if (digits + shift > Number::max_digits && coefficient >= 2 * powers_of_ten[static_cast<std::size_t>(digits - 1)])
    return std::nullopt;
  return coefficient * powers_of_ten[static_cast<std::size_t>(shift)];
}

Decimal sum_of(bool a_negative, Coefficient a, bool b_negative, Coefficient b, int exponent) {
  if (a_negative == b_negative) return {a_negative, a + b, exponent};
  if (a >= b) return {a_negative, a - b, exponent};
  return {b_negative, b - a, exponent};
}

bool has_too_many_digits(Coefficient coefficient) {
  constexpr Coefficient end = powers_of_ten[Number::max_digits];
  while (coefficient >= end && is_multiple_of_ten(coefficient)) coefficient /= 10;
  return coefficient >= end;
}

base::Result<Number> add_signed(const Number& a, const Number& b, bool b_negative) {
  if (b.is_zero()) return a;
  if (a.is_zero()) return Number::make(b_negative, b.coefficient(), b.exponent());
  const int exponent = std::min(a.exponent(), b.exponent());
  const auto left = shift_left(a.coefficient(), a.exponent() - exponent);
  const auto right = shift_left(b.coefficient(), b.exponent() - exponent);
  if (!left || !right) return base::invalid(std::string(number_overflow));
  const Decimal sum = sum_of(a.negative(), *left, b_negative, *right, exponent);
  // DynamoDB calls a sum with too many digits an overflow.
  if (has_too_many_digits(sum.coefficient)) return base::invalid(std::string(number_overflow));
  return Number::make(sum.negative, sum.coefficient, sum.exponent);
}

// Both positive or zero.
std::strong_ordering compare_absolute(const Number& a, const Number& b) {
  if (a.is_zero() || b.is_zero()) return !a.is_zero() <=> !b.is_zero();
  const int a_magnitude = a.magnitude();
  const int b_magnitude = b.magnitude();
  if (a_magnitude != b_magnitude) return a_magnitude <=> b_magnitude;
  // The first digits are at the same place, so the shift cannot exceed 38 digits.
  const int shift = a.exponent() - b.exponent();
  const Coefficient factor = powers_of_ten[static_cast<std::size_t>(shift < 0 ? -shift : shift)];
  const Coefficient left = shift > 0 ? a.coefficient() * factor : a.coefficient();
  const Coefficient right = shift < 0 ? b.coefficient() * factor : b.coefficient();
  if (left == right) return std::strong_ordering::equal;
  return left < right ? std::strong_ordering::less : std::strong_ordering::greater;
}

// Pairs of digits are aligned on the decimal point, on both sides of it.
int pair_of(int place) { return place >> 1; }

}  // namespace

Number::Number(std::int64_t value) : negative_(value < 0) {
  auto absolute = static_cast<std::uint64_t>(value);
  if (negative_) absolute = 0 - absolute;
  for (; absolute != 0 && absolute % 10 == 0; absolute /= 10) ++exponent_;
  low_ = absolute;
}

base::Result<Number> Number::make(bool negative, Coefficient coefficient, int exponent) {
  if (coefficient == 0) return Number();
  std::int64_t wide_exponent = exponent;
  for (; is_multiple_of_ten(coefficient); coefficient /= 10) ++wide_exponent;
  const int digits = count_digits(coefficient);
  const std::int64_t magnitude = wide_exponent + digits - 1;
  if (magnitude > max_magnitude) return base::invalid(std::string(number_overflow));
  if (magnitude < min_magnitude) return base::invalid(std::string(number_underflow));
  if (digits > max_digits) return base::invalid(std::string(too_many_digits));
  return Number(negative, coefficient, static_cast<int>(wide_exponent));
}

base::Result<Number> Number::add(const Number& a, const Number& b) { return add_signed(a, b, b.negative()); }

base::Result<Number> Number::subtract(const Number& a, const Number& b) { return add_signed(a, b, !b.negative()); }

int Number::magnitude() const { return exponent_ + count_digits(coefficient()) - 1; }

std::size_t Number::stored_size() const {
  if (is_zero()) return 1;
  const int pairs = pair_of(magnitude()) - pair_of(exponent_) + 1;
  return 1 + static_cast<std::size_t>(pairs) + (negative_ ? 1 : 0);
}

std::optional<std::int64_t> Number::to_int64() const {
  if (is_zero() || magnitude() < 0) return 0;
  if (magnitude() > 18) return std::nullopt;
  const Coefficient absolute = exponent_ >= 0 ? coefficient() * powers_of_ten[static_cast<std::size_t>(exponent_)]
                                              : coefficient() / powers_of_ten[static_cast<std::size_t>(-exponent_)];
  constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (absolute > limit + (negative_ ? 1 : 0)) return std::nullopt;
  const auto bits = static_cast<std::uint64_t>(absolute);
  return static_cast<std::int64_t>(negative_ ? 0 - bits : bits);
}

std::strong_ordering operator<=>(const Number& a, const Number& b) {
  if (a.negative_ != b.negative_) return a.negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
  return a.negative_ ? compare_absolute(b, a) : compare_absolute(a, b);
}

}  // namespace postino::item
