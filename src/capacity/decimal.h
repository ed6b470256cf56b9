// Exact decimals, for money and for units of capacity. A sum of prices is what a person finds with pencil and paper.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::capacity {

// Up to 38 digits. Sums and products are exact; what would need more digits is a fault of the program, because what
// comes from outside is limited so that it cannot happen.
class Decimal {
 public:
  Decimal() = default;
  Decimal(std::int64_t whole) : coefficient_(whole) {}  // NOLINT(google-explicit-constructor): it is a number

  // Digits with or without a point: "0", "12.5". Fails with the rule when it has a sign, an exponent, more than
  // `places` digits behind the point, or more than twelve before it.
  static base::Result<Decimal> parse(std::string_view text, int places);
  // A whole number of halves.
  static Decimal halves(std::int64_t count);

  friend Decimal operator+(const Decimal& a, const Decimal& b);
  friend Decimal operator-(const Decimal& a, const Decimal& b);
  friend Decimal operator*(const Decimal& a, const Decimal& b);
  Decimal& operator+=(const Decimal& other) { return *this = *this + other; }
  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);
  friend bool operator==(const Decimal& a, const Decimal& b) { return (a <=> b) == 0; }

  // With as many digits behind the point, the last one rounded, halves away from zero. The divisor must not be zero.
  Decimal rounded(int places) const;
  Decimal divided_by(const Decimal& divisor, int places) const;
  // The least whole number that is not less.
  std::int64_t ceiling() const;

  bool is_zero() const { return coefficient_ == 0; }

  // As short as it can be: "12.5". Or with as many digits behind the point, rounded: "12.50".
  std::string text() const;
  std::string text(int places) const;

 private:
  __extension__ typedef __int128 Coefficient;  // an extension by name, so that -Wpedantic lets it pass

  Decimal(Coefficient coefficient, int scale);
  static Coefficient power_of_ten(int exponent);
  // With at least that many digits behind the point.
  Coefficient scaled(int scale) const;

  Coefficient coefficient_ = 0;
  int scale_ = 0;  // digits behind the point; the last of them is not zero
};

}  // namespace postino::capacity
