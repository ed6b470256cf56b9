#include "capacity/decimal.h"

#include <algorithm>

#include "base/check.h"

namespace postino::capacity {

namespace {

constexpr std::size_t most_whole_digits = 12;

bool are_digits(std::string_view text) {
  return std::ranges::all_of(text, [](char each) { return each >= '0' && each <= '9'; });
}

__extension__ typedef unsigned __int128 Magnitude;

// Without a sign, because GCC's library does not have the checked product of Clang's signed ones.
template <class Integer>
Integer product(Integer a, Integer b) {
  const auto size = [](Integer value) { return static_cast<Magnitude>(value < 0 ? -value : value); };
  constexpr Magnitude most = ~Magnitude{0} >> 1;
  CHECK(b == 0 || size(a) <= most / size(b));
  const auto result = static_cast<Integer>(size(a) * size(b));
  return (a < 0) == (b < 0) ? result : -result;
}

template <class Integer>
Integer sum(Integer a, Integer b) {
  Integer result = 0;
  CHECK(!__builtin_add_overflow(a, b, &result));
  return result;
}

// Halves away from zero.
template <class Integer>
Integer rounded_quotient(Integer dividend, Integer divisor) {
  const Integer quotient = dividend / divisor;
  const Integer rest = dividend % divisor;
  const auto size = [](Integer value) { return value < 0 ? -value : value; };
  if (size(rest) < size(divisor) - size(rest)) return quotient;
  return quotient + ((dividend < 0) == (divisor < 0) ? 1 : -1);
}

}  // namespace

Decimal::Coefficient Decimal::power_of_ten(int exponent) {
  Coefficient power = 1;
  for (int i = 0; i < exponent; ++i) power = product<Coefficient>(power, 10);
  return power;
}

Decimal::Decimal(Coefficient coefficient, int scale) : coefficient_(coefficient), scale_(scale) {
  while (scale_ > 0 && coefficient_ % 10 == 0) {
    coefficient_ /= 10;
    --scale_;
  }
}

Decimal::Coefficient Decimal::scaled(int scale) const {
  return product<Coefficient>(coefficient_, power_of_ten(scale - scale_));
}

base::Result<Decimal> Decimal::parse(std::string_view text, int places) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction = point == text.size() ? std::string_view() : text.substr(point + 1);
  const bool is_decimal = !whole.empty() && are_digits(whole) && are_digits(fraction) &&
                          (point == text.size() || !fraction.empty()) && whole.size() <= most_whole_digits;
  if (!is_decimal || fraction.size() > static_cast<std::size_t>(places))
    return base::invalid("must be a decimal such as 12.5, with at most " + std::to_string(most_whole_digits) +
                         " digits before the point and " + std::to_string(places) + " behind it");
  Coefficient coefficient = 0;
  for (const std::string_view part : {whole, fraction})
    for (const char digit : part) coefficient = product<Coefficient>(coefficient, 10) + (digit - '0');
  return Decimal(coefficient, static_cast<int>(fraction.size()));
}

Decimal Decimal::halves(std::int64_t count) { return Decimal(product<Coefficient>(count, 5), 1); }

Decimal operator+(const Decimal& a, const Decimal& b) {
  const int scale = std::max(a.scale_, b.scale_);
  return Decimal(sum(a.scaled(scale), b.scaled(scale)), scale);
}

Decimal operator-(const Decimal& a, const Decimal& b) {
  const int scale = std::max(a.scale_, b.scale_);
  return Decimal(sum(a.scaled(scale), -b.scaled(scale)), scale);
}

Decimal operator*(const Decimal& a, const Decimal& b) {
  return Decimal(product(a.coefficient_, b.coefficient_), a.scale_ + b.scale_);
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  const int scale = std::max(a.scale_, b.scale_);
  const auto left = a.scaled(scale);
  const auto right = b.scaled(scale);
  if (left == right) return std::strong_ordering::equal;
  return left < right ? std::strong_ordering::less : std::strong_ordering::greater;
}

Decimal Decimal::rounded(int places) const {
  if (scale_ <= places) return *this;
  return Decimal(rounded_quotient(coefficient_, power_of_ten(scale_ - places)), places);
}

Decimal Decimal::divided_by(const Decimal& divisor, int places) const {
  CHECK(!divisor.is_zero());
  // Both as whole numbers of the same size, and the dividend larger by the digits that are wanted.
  const int scale = std::max(scale_, divisor.scale_);
  return Decimal(rounded_quotient(product(scaled(scale), power_of_ten(places)), divisor.scaled(scale)), places);
}

std::int64_t Decimal::ceiling() const {
  const Coefficient unit = power_of_ten(scale_);
  const Coefficient whole = coefficient_ / unit;
  return static_cast<std::int64_t>(whole + (coefficient_ % unit > 0 ? 1 : 0));
}

std::string Decimal::text() const { return text(scale_); }

std::string Decimal::text(int places) const {
  const Decimal shown = rounded(places);
  Coefficient rest = shown.scaled(places);
  const bool negative = rest < 0;
  if (negative) rest = -rest;
  std::string digits;
  for (; rest != 0 || digits.size() <= static_cast<std::size_t>(places); rest /= 10)
    digits.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
  if (places > 0) digits.insert(static_cast<std::size_t>(places), 1, '.');
  if (negative) digits.push_back('-');
  std::ranges::reverse(digits);
  return digits;
}

}  // namespace postino::capacity
