// DynamoDB's number: a decimal of up to 38 significant digits, magnitude 1E-130 to 9.99...E+125, or zero. Exact.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::item {

// Always normalised: the coefficient has no trailing zero, and zero has no sign and exponent 0.
// So equal numbers have equal members, however they were written.
class Number {
 public:
  static constexpr int max_digits = 38;
  static constexpr int max_magnitude = 125;             // 9.99...E+125 is the largest
  static constexpr int min_magnitude = -130;            // 1E-130 is the smallest
  __extension__ typedef unsigned __int128 Coefficient;  // an extension by name, so that -Wpedantic lets it pass

  Number() = default;
  Number(std::int64_t value);  // NOLINT(google-explicit-constructor): an integer is a number

  // Fails with the message DynamoDB gives for text that is no number, out of range, or has too many digits.
  static base::Result<Number> parse(std::string_view text);

  // The value coefficient x 10^exponent. Fails like parse when it is out of range or has too many digits.
  static base::Result<Number> make(bool negative, Coefficient coefficient, int exponent);

  // Exact; a sum that would need more than 38 digits is an error, as it is at DynamoDB.
  static base::Result<Number> add(const Number& a, const Number& b);
  static base::Result<Number> subtract(const Number& a, const Number& b);

  // Plain decimal notation, never scientific: 1e3 is "1000".
  std::string to_string() const;
  void append_to(std::string& out) const;

  // The bytes DynamoDB counts for it: one, plus one per base-100 digit, plus one if negative.
  std::size_t stored_size() const;

  // The integer part, if it fits.
  std::optional<std::int64_t> to_int64() const;

  // The power of ten of its first digit: 2 for 123, -1 for 0.5. Zero has none.
  int magnitude() const;

  bool is_zero() const { return high_ == 0 && low_ == 0; }
  bool negative() const { return negative_; }
  int exponent() const { return exponent_; }
  Coefficient coefficient() const { return static_cast<Coefficient>(high_) << 64 | low_; }

  friend bool operator==(const Number&, const Number&) = default;
  friend std::strong_ordering operator<=>(const Number& a, const Number& b);

 private:
  // The coefficient must be normalised and in range.
  Number(bool negative, Coefficient coefficient, int exponent)
      : high_(static_cast<std::uint64_t>(coefficient >> 64)),
        low_(static_cast<std::uint64_t>(coefficient)),
        exponent_(static_cast<std::int16_t>(exponent)),
        negative_(negative) {}

  // Two halves instead of one 128-bit member keep the alignment at eight bytes.
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
  std::int16_t exponent_ = 0;
  bool negative_ = false;
};

}  // namespace postino::item
